"""What Java's clients keep in `sasl.jaas.config`."""

import pytest

from moldau.errors import InvalidConfig
from moldau.security.jaas import read_jaas_config

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
