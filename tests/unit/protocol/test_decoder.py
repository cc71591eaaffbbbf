"""What a decoder refuses."""

import traceback

import pytest

from moldau.errors import ProtocolError
from moldau.protocol.codec import decode
from moldau.protocol.declaration import message, since, struct
from moldau.protocol.decoder import compile_decoder, least_size
from moldau.protocol.primitives import Float64, Int8, Int32, Uuid


@struct
class Item:
    name: str
    number: Int32


@message(versions=range(0, 2), flexible_from=1)  # noqa: PIE808
class Sample:
    text: str
    items: list[Item] | None
    numbers: list[Int32]
    note: str | None = since(1, tag=0, default=None)
    item: Item | None = since(1, tag=2, default=None)


CLASSIC = bytes.fromhex("0001 78 00000000 00000000")
COMPACT = bytes.fromhex("02 78 01 01 00")


def with_tags(tags: str) -> bytes:
    return COMPACT[:-1] + bytes.fromhex(tags)


def test_the_smallest_messages_are_read() -> None:
    expected = Sample(text="x", items=[], numbers=[])
    assert decode(Sample, 0, CLASSIC) == (expected, len(CLASSIC))
    assert decode(Sample, 1, COMPACT) == (expected, len(COMPACT))


def test_bytes_after_the_message_are_left_to_the_caller() -> None:
    assert decode(Sample, 1, COMPACT + b"more")[1] == len(COMPACT)


@pytest.mark.parametrize(
    ("malformed", "why"),
    [
        ("fffe", "text has a negative length"),
        ("ffff", "text has a negative length"),
        ("7fff 78", "requires a buffer"),
        ("0001 ff 00000000 00000000", "utf-8"),
        ("0003 eda080 00000000 00000000", "utf-8"),
        ("0001 78 fffffffe", "items has a negative length"),
        ("0001 78 7fffffff", "more elements than there are bytes"),
        ("0001 78 00000001 00000000", "more elements than there are bytes"),
        ("0001 78 00000000 ffffffff", "numbers has a negative length"),
        ("0001 78 00000000 7fffffff", "claims 2147483647 elements"),
        ("0001 78 00000000 00000001 00", "requires a buffer"),
    ],
)
def test_malformed_classic_bytes(malformed: str, why: str) -> None:
    with pytest.raises(ProtocolError, match=why):
        decode(Sample, 0, bytes.fromhex(malformed))


@pytest.mark.parametrize(
    ("malformed", "why"),
    [
        ("", "index out of range"),
        ("00", "null where a value is required"),
        ("8000", "null where a value is required"),
        ("ffffffffff01", "more than 5 bytes"),
        ("ffffffff0f 78", "text is too long"),
        ("0278 ffffffff0f", "more elements than there are bytes"),
        ("0278 01 00", "null where a value is required"),
        ("0278 01 ffffffff0f", "claims 4294967294 elements"),
        ("0278 01 01", "index out of range"),
    ],
)
def test_malformed_compact_bytes(malformed: str, why: str) -> None:
    with pytest.raises(ProtocolError, match=why):
        decode(Sample, 1, bytes.fromhex(malformed))


def test_known_tags_are_read_and_unknown_ones_skipped() -> None:
    sample, end = decode(
        Sample, 1, with_tags("04 00 02 02 79 01 01 ff 02 07 02 7a 00000001 00 09 00")
    )
    assert sample.note == "y"
    assert sample.item == Item(name="z", number=1)
    assert end == len(with_tags("04 00 02 02 79 01 01 ff 02 07 02 7a 00000001 00 09 00"))


@pytest.mark.parametrize(
    ("tags", "why"),
    [
        ("01 00 01 02 79", "tag 0 has the wrong size"),
        ("01 00 03 02 79 00", "tag 0 has the wrong size"),
        ("01 00 7f 02 79", "claims 127 bytes"),
        ("02 00 02 02 79 00 02 02 79", "tag 0 follows tag 0"),
        ("02 05 00 04 00", "tag 4 follows tag 5"),
        ("ffffffff0f 00 02 02 79", "index out of range"),
        ("01", "index out of range"),
    ],
)
def test_malformed_tags(tags: str, why: str) -> None:
    with pytest.raises(ProtocolError, match=why):
        decode(Sample, 1, with_tags(tags))


def test_text_that_ends_past_the_buffer_is_refused_at_the_end_of_the_message() -> None:
    @message(versions=range(1), flexible_from=None)
    class Text:
        text: str

    with pytest.raises(ProtocolError, match="end too soon"):
        decode(Text, 0, b"\0\5four")


def test_text_is_never_longer_than_a_classic_string_can_be() -> None:
    longest = b"\x80\x80\x02" + b"x" * 32767 + COMPACT[2:]
    assert decode(Sample, 1, longest)[0].text == "x" * 32767
    with pytest.raises(ProtocolError, match="text is too long"):
        decode(Sample, 1, b"\x81\x80\x02" + b"x" * 32768 + COMPACT[2:])


def test_any_byte_but_zero_is_true() -> None:
    @message(versions=range(1), flexible_from=None)
    class Flag:
        flag: bool

    assert decode(Flag, 0, b"\x02")[0].flag is True


def test_the_traceback_shows_the_generated_line() -> None:
    with pytest.raises(ProtocolError) as caught:
        decode(Sample, 1, b"\0")
    shown = "".join(traceback.format_exception(caught.value))
    assert "decode_long_length(buffer, position)" in shown
    assert "Sample v1 decoder" in shown


def test_the_least_size_of_a_struct_counts_what_each_field_must_take() -> None:
    @struct
    class Everything:
        number: Int8
        real: Float64
        identity: Uuid
        text: str
        data: bytes
        numbers: list[Int32]
        item: Item
        maybe: Item | None
        late: Int32 = since(1, default=0)
        tagged: Int32 = since(1, tag=0, default=0)

    assert least_size(Everything, 0, is_flexible=False) == 1 + 8 + 16 + 2 + 4 + 4 + 6 + 1
    assert least_size(Everything, 1, is_flexible=True) == 1 + 8 + 16 + 1 + 1 + 1 + 6 + 1 + 4 + 1


def test_an_undeclared_version_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(AssertionError, match="Sample has no version 2"):
        compile_decoder(Sample, 2)
