"""Names that Avro and Protobuf allow."""

from moldau.connect.converters.names import valid_name


def test_what_is_not_allowed_becomes_an_underscore() -> None:
    assert [valid_name(each) for each in ("a-b.c", "1a", "ok_1", "ü")] == [
        "a_b_c",
        "_1a",
        "ok_1",
        "_",
    ]
