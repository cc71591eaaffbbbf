"""The refusal of single records, each with the reason that its producer gets."""

from collections.abc import Iterable
from typing import Self

from moldau.errors import ErrorCode, KafkaError
from moldau.model import NO_TIMESTAMP
from moldau.records.record import Record
from moldau.records.rules import ProduceRules

_SHOWN_MAX = 3
# Kafka returns all of them: of a small batch that opens to millions, in as many objects.
_ERRORS_MAX = 1000


class TooLargeToOpen(Exception):
    """Records are more than may be opened here, or cannot be opened at all."""


class RecordsRefused(KafkaError):
    """A batch that is refused for some of its records.

    `record_errors` are their indexes in the batch with the reasons, for the response to
    Produce version 8 and later.
    """

    def __new__(cls, code: ErrorCode, record_errors: list[tuple[int, str]]) -> Self:
        # Either of two codes, so that it cannot be of the class that belongs to one.
        return Exception.__new__(cls, code, record_errors)

    def __init__(self, code: ErrorCode, record_errors: list[tuple[int, str]]) -> None:
        shown = "; ".join(f"record {index}: {why}" for index, why in record_errors[:_SHOWN_MAX])
        super().__init__(code, f"{len(record_errors)} records refused: {shown}")
        self.record_errors = record_errors


def refuse_records(
    records: Iterable[Record], rules: ProduceRules, *, claims_log_append_time: bool, now_ms: int
) -> None:
    """Raise if any record breaks a rule; a wrong timestamp outweighs a missing key.

    Only a broker may claim log-append time. Kafka 3.9 lets a producer's claim pass on a
    topic with create time if the timestamp is in range, and so does this. No more is read once
    a thousand are found.
    """
    errors: list[tuple[int, str]] = []
    code = ErrorCode.INVALID_RECORD
    for index, record in enumerate(records):
        if rules.is_compacted and record.key is None:
            errors.append((index, "a compacted topic needs a key"))
        elif not rules.is_log_append_time and record.timestamp != NO_TIMESTAMP:
            age_ms = now_ms - record.timestamp
            if age_ms > rules.timestamp_before_max_ms or -age_ms > rules.timestamp_after_max_ms:
                code = ErrorCode.INVALID_TIMESTAMP
                errors.append((index, f"timestamp {record.timestamp} is out of range"))
        elif claims_log_append_time:
            code = ErrorCode.INVALID_TIMESTAMP
            errors.append((index, "only a broker may set log-append time"))
        if len(errors) == _ERRORS_MAX:
            break
    if errors:
        raise RecordsRefused(code, errors)
