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


def test_a_section_s_first_module_counts() -> None:
    text = 'Client { a.First required user="u;}"; b.Second optional; };'
    assert read_jaas_file(text, "jaas.conf") == {"Client": LoginModule("a.First", {"user": "u;}"})}
