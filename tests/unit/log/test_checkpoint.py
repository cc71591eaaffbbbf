"""Checkpoint files: Kafka's text, whole or not at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.log.checkpoint import (
    CheckpointError,
    decode_entries,
    encode_entries,
    read_offsets,
    write_offsets,
)
from moldau.model import TopicPartition
from moldau.testing.disk import Choice, MemoryDisk, PowerLost, keep_all, lose_all

PATH = "/d/recovery-point-offset-checkpoint"


def disk_with(data: bytes | None = None) -> MemoryDisk:
    disk = MemoryDisk()
    disk.make_directory("/d")
    disk.sync_directory("/")
    if data is not None:
        disk.open_append(PATH).append(data)
    return disk


def test_the_text_is_kafkas() -> None:
    disk = disk_with()

    write_offsets(disk, PATH, {TopicPartition("a", 0): 12, TopicPartition("b-c.d_e", 7): 0})

    assert disk.read_file(PATH) == b"0\n2\na 0 12\nb-c.d_e 7 0\n"


def test_a_file_that_was_never_written_holds_nothing() -> None:
    assert read_offsets(disk_with(), PATH) == {}


def test_an_empty_file_holds_nothing_as_apache_leaves_it_at_its_first_start() -> None:
    assert read_offsets(disk_with(b""), PATH) == {}


@given(
    st.dictionaries(
        st.builds(
            TopicPartition,
            st.from_regex(r"[a-zA-Z0-9._-]{1,20}", fullmatch=True),
            st.integers(0, 2**31 - 1),
        ),
        st.integers(0, 2**63 - 1),
        max_size=5,
    )
)
def test_what_is_written_is_read(offsets: dict[TopicPartition, int]) -> None:
    disk = disk_with()

    write_offsets(disk, PATH, offsets)

    assert read_offsets(disk, PATH) == offsets


@pytest.mark.parametrize(
    "data",
    [
        b"\n",
        b"0\n",
        b"1\n0\n",
        b"0\n2\na 0 1\n",
        b"0\n1\na 0 1\na 1 1\n",
        b"0\n1\na 0\n",
        b"0\n1\na 0 1 2\n",
        b"0\n1\na 0 -1\n",
        b"0\n1\na 0 1_0\n",
        b"0\n1\na 0 99999999999999999999\n",
        b"0\nx\n",
        b"0\n1\n\n",
        b"0\n1\na 0 \xff\n",
        "0\n1\na 0 \u0663\n".encode(),
        bytes(30),
    ],
)
def test_a_malformed_file_is_an_error_of_its_own_kind(data: bytes) -> None:
    with pytest.raises(CheckpointError):
        read_offsets(disk_with(data), PATH)


@given(st.binary(max_size=60))
def test_no_bytes_raise_anything_else(data: bytes) -> None:
    try:
        entries = decode_entries(b"0\n" + data, field_count=2)
    except CheckpointError:
        return
    assert decode_entries(encode_entries(entries), field_count=2) == entries


@pytest.mark.parametrize("choice", [lose_all, keep_all])
def test_power_loss_leaves_the_old_offsets_or_the_new(choice: Choice) -> None:
    old, new = {TopicPartition("a", 0): 1}, {TopicPartition("a", 0): 2}
    for number in range(1, 7):
        disk = disk_with()
        write_offsets(disk, PATH, old)
        disk.lose_power_at_call(number)
        with pytest.raises(PowerLost):
            write_offsets(disk, PATH, new)
        assert read_offsets(disk.restart(choice), PATH) in (old, new)
