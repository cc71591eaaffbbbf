"""An answer is encoded as the messages' codec encodes it; where it cannot be, it says so."""

from types import ModuleType
from typing import Any

import pytest

from moldau.broker.fast import fetch_answer as source
from moldau.broker.fast.fetch_frame import VERSION_MAX, VERSION_MIN
from moldau.broker.requests import reads as source_reads
from moldau.broker.requests.fetch_request import PartitionKey, Wanted
from moldau.broker.requests.fetch_response import ResponseBuilder
from moldau.errors import ErrorCode, KafkaError
from moldau.log.leader_epochs import EpochEnd
from moldau.log.transaction_index import AbortedTransaction
from moldau.metadata.image import ClusterImage
from moldau.model import TopicPartition
from moldau.protocol.codec import encode
from moldau.runtime import native
from unit.broker.world import CLIENT, CORRELATION_ID, bytes_of

IMAGE = ClusterImage(0, {}, {}, {})
SESSION = 9
THROTTLE_MS = 1_477
FORMS = pytest.mark.parametrize(
    ("module", "reads"),
    [
        (source, source_reads),
        (
            native.kernel("moldau.broker.fast._fetch_answer", "moldau.broker.fast.fetch_answer"),
            native.kernel("moldau.broker.requests._reads", "moldau.broker.requests.reads"),
        ),
    ],
    ids=["source", "compiled"],
)
VERSIONS = pytest.mark.parametrize("version", range(VERSION_MIN, VERSION_MAX + 1))


def outcome(reads: ModuleType, version: int, topic: str, number: int, **facts: Any) -> Any:
    key = PartitionKey(topic.encode().ljust(16) if version >= 13 else topic, number)
    read = reads.PartitionRead(key, TopicPartition(topic, number), Wanted(-1, 0, -1, -1, 9))
    for name, value in facts.items():
        setattr(read, name, value)
    return read


def by_codec(version: int, outcomes: list[Any]) -> bytes:
    building = ResponseBuilder(
        SESSION, version, image=IMAGE, client=CLIENT, find_replica=lambda _: None
    )
    for one in outcomes:
        building.add(one)
    response = building.finish()
    response.throttle_time_ms = THROTTLE_MS
    body = encode(response, version)
    tags = b"\0" if version >= 12 else b""
    header = CORRELATION_ID.to_bytes(4, "big") + tags
    return (len(header) + len(body)).to_bytes(4, "big") + header + body


def answers(reads: ModuleType, version: int) -> list[list[Any]]:
    """What answers are made of."""

    def one(topic: str, number: int, **facts: Any) -> Any:
        return outcome(reads, version, topic, number, **facts)

    bounds = {"high_watermark": 2**40, "last_stable_offset": 7, "log_start_offset": 3}
    aborted = [AbortedTransaction(5, 1, 2, 3), AbortedTransaction(6, 2, 3, 4)]
    return [
        [],
        [one("t", 0, **bounds)],
        [one("t", 0, **bounds, records=b"abc"), one("t", 1, **bounds)],
        [one("t", 0, **bounds, aborted=[]), one("t", 1, **bounds, aborted=aborted)],
        [one("t", 0, records=bytes(300)), one("u", 0), one("t", 1, records=b"z")],
        [one("t", 0, records=bytes(126)), one("u", 0, records=bytes(127))],
        [one("n" * 200 if version < 13 else "n", 2, **bounds)],
        [one("t", number, **bounds) for number in range(200)],
    ]


@FORMS
@VERSIONS
def test_answers_are_those_of_the_codec(
    module: ModuleType, reads: ModuleType, version: int
) -> None:
    for outcomes in answers(reads, version):
        assert not module.needs_message(version, outcomes)
        parts = module.encode(version, CORRELATION_ID, SESSION, THROTTLE_MS, outcomes)
        assert bytes_of(parts) == by_codec(version, outcomes)


@FORMS
@VERSIONS
def test_errors_and_nearer_replicas_need_no_tags_before_leader_hints(
    module: ModuleType, reads: ModuleType, version: int
) -> None:
    failed = outcome(reads, version, "t", 0)
    failed.fail(KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER))
    assert module.needs_message(version, [failed]) == (version >= 16)
    referred = outcome(reads, version, "t", 1, preferred_replica=3 if version >= 11 else -1)
    outcomes = [referred] if version >= 16 else [failed, referred]
    assert not module.needs_message(version, [referred])
    parts = module.encode(version, CORRELATION_ID, SESSION, THROTTLE_MS, outcomes)
    assert bytes_of(parts) == by_codec(version, outcomes)


@FORMS
def test_where_logs_part_is_left_to_the_codec(module: ModuleType, reads: ModuleType) -> None:
    parted = outcome(reads, 12, "t", 0, diverging=EpochEnd(2, 5))
    assert module.needs_message(12, [outcome(reads, 12, "t", 1), parted])
