"""The refusal of single records."""

import pytest

from moldau.errors import ErrorCode
from moldau.records.record import Record
from moldau.records.refusal import RecordsRefused, refuse_records
from moldau.records.rules import ProduceRules

NOW = 1_000_000
STRICT = ProduceRules(is_compacted=True, timestamp_before_max_ms=10, timestamp_after_max_ms=5)


def record(timestamp: int = NOW, key: bytes | None = b"k") -> Record:
    return Record(0, timestamp, key, b"v")


def refusal(
    *records: Record, rules: ProduceRules = STRICT, claims_log_append_time: bool = False
) -> RecordsRefused:
    with pytest.raises(RecordsRefused) as caught:
        refuse_records(records, rules, claims_log_append_time=claims_log_append_time, now_ms=NOW)
    return caught.value


def passes(
    *records: Record, rules: ProduceRules = STRICT, claims_log_append_time: bool = False
) -> bool:
    refuse_records(records, rules, claims_log_append_time=claims_log_append_time, now_ms=NOW)
    return True


def test_records_within_the_rules_pass() -> None:
    assert passes(record(), record(NOW - 10), record(NOW + 5), record(-1))


@pytest.mark.parametrize("timestamp", [NOW - 11, NOW + 6, 0, 2**62])
def test_timestamps_out_of_range_are_refused(timestamp: int) -> None:
    assert refusal(record(timestamp)).code == ErrorCode.INVALID_TIMESTAMP


def test_missing_keys_are_refused_with_their_indexes() -> None:
    error = refusal(record(), record(key=None), record(), record(key=None))
    assert error.code == ErrorCode.INVALID_RECORD
    assert [index for index, _ in error.record_errors] == [1, 3]


def test_only_a_compacted_topic_needs_keys() -> None:
    assert passes(record(key=None), rules=ProduceRules())


def test_no_more_is_read_once_a_thousand_are_found() -> None:
    records = iter([record(key=None)] * 1005)
    assert len(refusal(*[record(key=None)] * 1005).record_errors) == 1000
    with pytest.raises(RecordsRefused):
        refuse_records(records, STRICT, claims_log_append_time=False, now_ms=NOW)
    assert len(list(records)) == 5


def test_any_wrong_timestamp_decides_the_code() -> None:
    error = refusal(record(key=None), record(0), record(key=None))
    assert error.code == ErrorCode.INVALID_TIMESTAMP
    assert [index for index, _ in error.record_errors] == [0, 1, 2]


def test_a_record_is_refused_for_its_key_before_its_timestamp() -> None:
    assert refusal(record(0, key=None)).code == ErrorCode.INVALID_RECORD


def test_a_topic_with_log_append_time_ignores_timestamps() -> None:
    assert passes(record(0), rules=ProduceRules(is_log_append_time=True, timestamp_before_max_ms=1))


def test_log_append_time_may_not_be_claimed() -> None:
    rules = ProduceRules(is_log_append_time=True)
    error = refusal(record(), rules=rules, claims_log_append_time=True)
    assert error.code == ErrorCode.INVALID_TIMESTAMP
    error = refusal(record(-1), rules=ProduceRules(), claims_log_append_time=True)
    assert error.code == ErrorCode.INVALID_TIMESTAMP
    assert passes(record(), rules=ProduceRules(), claims_log_append_time=True)


def test_the_message_names_the_first_records() -> None:
    message = str(refusal(*[record(key=None)] * 5))
    assert message.startswith("5 records refused: record 0: ")
    assert "record 2" in message
    assert "record 3" not in message
