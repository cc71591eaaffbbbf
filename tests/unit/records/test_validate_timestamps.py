"""Limits on timestamps do not make validation read every record of sound batches."""

from collections.abc import Iterator

import pytest

from moldau.records import validate
from moldau.records.batch import write_batch
from moldau.records.opening import Opening
from moldau.records.record import Record, decode_records
from moldau.records.refusal import RecordsRefused, TooLargeToOpen
from moldau.records.rules import ProduceRules
from moldau.records.scratch import Scratch
from moldau.records.validate import validate_produce

NOW = 1_700_000_000_000
BATCH = write_batch(
    [Record(0, NOW, b"k", b"v"), Record(1, NOW - 50, b"k", b"v"), Record(2, NOW + 9, b"k", b"v")]
)


@pytest.fixture
def read_one_by_one(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many records were read each time that they were read in Python."""
    counts: list[int] = []

    def reading(section: memoryview, *, record_count: int, **bases: int) -> Iterator[Record]:
        counts.append(record_count)
        return decode_records(section, record_count=record_count, **bases)

    monkeypatch.setattr(validate, "decode_records", reading)
    return counts


def test_records_within_the_limits_are_left_to_the_kernel(read_one_by_one: list[int]) -> None:
    rules = ProduceRules(timestamp_before_max_ms=50, timestamp_after_max_ms=9)
    assert validate_produce(BATCH, rules, request_version=9, now_ms=NOW) is not None
    assert not read_one_by_one


@pytest.mark.parametrize(
    ("rules", "index"),
    [
        (ProduceRules(timestamp_before_max_ms=49), 1),
        (ProduceRules(timestamp_after_max_ms=8), 2),
    ],
)
def test_only_a_batch_out_of_range_is_read_to_tell_which_record(
    rules: ProduceRules, index: int, read_one_by_one: list[int]
) -> None:
    with pytest.raises(RecordsRefused) as caught:
        validate_produce(BATCH, rules, request_version=9, now_ms=NOW)
    assert [place for place, _ in caught.value.record_errors] == [index]
    assert read_one_by_one == [3]


@pytest.mark.parametrize(
    ("key", "rules"),
    [
        (b"k", ProduceRules(is_compacted=True)),
        (None, ProduceRules()),
        (None, ProduceRules(is_log_append_time=True, timestamp_before_max_ms=1)),
    ],
    ids=["keys on a compacted topic", "no keys elsewhere", "old, but the broker sets the time"],
)
def test_records_that_break_no_rule_are_left_to_the_kernel(
    key: bytes | None, rules: ProduceRules, read_one_by_one: list[int]
) -> None:
    data = write_batch([Record(0, NOW - 50, key, b"v")])
    assert validate_produce(data, rules, request_version=9, now_ms=NOW) is not None
    assert not read_one_by_one


def test_many_records_are_not_read_one_by_one_within_a_bound() -> None:
    rules = ProduceRules(timestamp_before_max_ms=1)
    data = write_batch([Record(number, NOW - 50, b"k", b"v") for number in range(1001)])
    bounded = Opening(Scratch(), left_bytes=2**20)
    with pytest.raises(TooLargeToOpen):
        validate_produce(data, rules, request_version=9, now_ms=NOW, opening=bounded)
    with pytest.raises(RecordsRefused):
        validate_produce(data, rules, request_version=9, now_ms=NOW)


def test_timestamps_before_all_time_count_as_none() -> None:
    data = write_batch([Record(0, -5, None, b"v"), Record(1, -(2**62), None, b"v")])
    valid = validate_produce(data, ProduceRules(), request_version=9, now_ms=NOW)
    assert valid is not None
    assert valid.header.max_timestamp == -1


def test_the_last_timestamp_of_64_bits_is_valid() -> None:
    data = write_batch([Record(0, 2**63 - 1, None, b"v")])
    valid = validate_produce(data, ProduceRules(), request_version=9, now_ms=NOW)
    assert valid is not None
    assert valid.header.max_timestamp == 2**63 - 1
