"""A sample of records tells what the values and keys of a topic are."""

import pytest

from moldau.streams.sql.shapes import TopicShape, columns_of_json, shape_of


@pytest.mark.parametrize(
    ("values", "value"),
    [
        ([], "text"),
        ([None], "text"),
        ([b"to the sea", b"a\tb\n"], "text"),
        ([b"12345678"], "text"),
        ([(5).to_bytes(8, "big"), (-1).to_bytes(8, "big", signed=True)], "bigint"),
        ([(5).to_bytes(4, "big")], "int"),
        ([b"\xff\xfe\xfd"], "bytes"),
        ([b"\x00\x00\x00\x05", b"\x00"], "bytes"),
        ([b"[1, 2]"], "text"),
        ([b"{}"], "text"),
    ],
)
def test_plain_values_are_known_by_their_bytes(values: list[bytes | None], value: str) -> None:
    assert shape_of(values, [b"k"]) == TopicShape(value, "", "text")
    assert shape_of([], values).key == value


def test_json_has_room_for_all_that_was_seen() -> None:
    seen = [
        b'{"id": 1, "price": 2, "tags": [], "at": {"x": 1}, "is": true, "no": null}',
        b'{"id": 2, "price": 2.5, "tags": ["a"], "at": {"y z": "b"}, "mixed": 1}',
        b'{"id": null, "mixed": "b", "large": 100000000000000000000, "odd": {}}',
    ]
    assert shape_of([*seen, None]).schema == (
        "`id` bigint, `price` double, `tags` array<string>, "
        "`at` struct<`x`: bigint, `y z`: string>, `is` boolean, `no` string, `mixed` string, "
        "`large` double, `odd` string"
    )
    assert shape_of(seen).value == "json"


@pytest.mark.parametrize("texts", [[b"{}", b"1"], [b"{"], [b"\xff"]])
def test_what_is_no_object_is_no_json(texts: list[bytes]) -> None:
    assert columns_of_json(texts) is None


def test_a_key_may_be_known_from_elsewhere() -> None:
    assert TopicShape("avro", "{}").with_key("bigint") == TopicShape("avro", "{}", "bigint")
