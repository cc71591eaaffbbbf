"""JSON pointers find what RFC 6901 says."""

import pytest

from moldau.connect.connectors.web.pointers import JsonPointer
from moldau.connect.errors import ConfigError

DOCUMENT = {"data": [{"id": 1}, {"id": 2}], "a/b": 3, "m~n": 4, "": 5}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", DOCUMENT),
        ("/data/1/id", 2),
        ("/data/2", None),
        ("/data/x", None),
        ("/a~1b", 3),
        ("/m~0n", 4),
        ("/", 5),
        ("/none/deeper", None),
        ("/a~1b/c", None),
    ],
)
def test_a_pointer_finds_a_part_or_nothing(text: str, found: object) -> None:
    assert JsonPointer("p", text).find(DOCUMENT) == found


def test_a_pointer_begins_with_a_slash() -> None:
    with pytest.raises(ConfigError, match="p: data is no JSON pointer"):
        JsonPointer("p", "data")
