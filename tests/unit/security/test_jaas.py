"""What Java's clients keep in `sasl.jaas.config`."""

import pytest

from moldau.errors import InvalidConfig
from moldau.security.jaas import LoginModule, read_jaas_config, read_jaas_file

MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (
            f'{MODULE} required username="anna" password="se;sam";',
            {"username": "anna", "password": "se;sam"},
        ),
        (f"{MODULE} required\n  username='anna'\n  tokenauth=true;\n", None),
        (f'{MODULE} required password="a\\"b\\\\c";', {"password": 'a"b\\c'}),
        (f"{MODULE} required;", {}),
    ],
)
def test_options_are_read(text: str, options: dict[str, str] | None) -> None:
    expected = {"username": "anna", "tokenauth": "true"} if options is None else options
    assert read_jaas_config(text) == expected


@pytest.mark.parametrize(
    "text", ["", MODULE, f"{MODULE} required username=", f"{MODULE} required username='sesam;"]
)
def test_anything_else_is_refused_without_telling_the_password(text: str) -> None:
    with pytest.raises(InvalidConfig, match=r"sasl\.jaas\.config") as caught:
        read_jaas_config(text)
    assert "sesam" not in str(caught.value)


@pytest.mark.parametrize("text", ["Client {", "Client { Module required }", "Client { };", "}"])
def test_a_login_file_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InvalidConfig, match=r"jaas\.conf"):
        read_jaas_file(text, "jaas.conf")


def test_a_section_has_all_of_its_modules() -> None:
    text = 'Client { a.First required user="u;}"; b.Second optional; };'
    assert read_jaas_file(text, "jaas.conf") == {
        "Client": (LoginModule("a.First", {"user": "u;}"}), LoginModule("b.Second", {}))
    }


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (r'"a\tb\n\101\""', 'a\tb\nA"'),
        ("'it is \\'so\\''", "it is 'so'"),
        ("a-b_c$d.e", "a-b_c$d.e"),
        ('"" // nothing\n', ""),
        ('/* who? */ "anna"', "anna"),
    ],
)
def test_values_are_those_of_java_s_tokenizer(value: str, read: str) -> None:
    assert read_jaas_config(f"{MODULE} REQUIRED user_x={value};") == {"user_x": read}


@pytest.mark.parametrize("value", ["123", "-x", "se/sam", '"open', '"two\nlines"'])
def test_a_value_that_is_no_word_needs_quotes(value: str) -> None:
    with pytest.raises(InvalidConfig):
        read_jaas_config(f"{MODULE} required user_x={value};")


def test_a_module_s_options_are_not_shown() -> None:
    assert "sesam" not in repr(LoginModule(MODULE, {"password": "sesam"}))
