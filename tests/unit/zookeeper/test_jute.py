"""The encoding of ZooKeeper's messages."""

import pytest

from moldau.zookeeper import jute
from moldau.zookeeper.jute import JuteReader, Malformed


def test_everything_that_is_written_is_read_again() -> None:
    data = (
        jute.integer(-7)
        + jute.long(2**40)
        + jute.flag(True)
        + jute.buffer(b"abc")
        + jute.buffer(None)
        + jute.buffer(b"")
        + jute.text("é")
        + jute.texts(["a", "bc"])
    )
    reader = JuteReader(data)
    assert (reader.integer(), reader.long(), reader.flag()) == (-7, 2**40, True)
    assert (reader.buffer(), reader.buffer(), reader.buffer()) == (b"abc", None, b"")
    assert (reader.text(), reader.texts()) == ("é", ["a", "bc"])
    assert reader.left == 0


def test_numbers_are_big_endian_as_in_java() -> None:
    assert jute.integer(1) == b"\0\0\0\1"
    assert jute.text("a") == b"\0\0\0\1a"


@pytest.mark.parametrize(
    "data",
    [b"\0\0", b"\0\0\0\5abc", b"\xff\xff\xff\xfe", b"\0\0\0\1\xff"],
    ids=["short", "longer than there is", "a negative length", "no UTF-8"],
)
def test_rubbish_is_told_from_a_message(data: bytes) -> None:
    with pytest.raises(Malformed):
        JuteReader(data).text()


def test_a_list_that_cannot_be_so_long_is_not_begun() -> None:
    with pytest.raises(Malformed, match="a list of 1000000 in 0 bytes"):
        JuteReader(jute.integer(1_000_000)).texts()


def test_no_list_is_an_empty_one() -> None:
    assert JuteReader(jute.integer(-1)).texts() == []
