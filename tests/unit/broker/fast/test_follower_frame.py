"""A follower's request is read as the codec reads it, or not at all."""

import pytest

from moldau.broker.fast.fetch_frame import NOT_PLAIN
from moldau.broker.fast.follower_frame import FollowerQuestion, is_in_session
from moldau.broker.requests.fetch_sessions import PartitionKey, Wanted
from moldau.protocol.codec import decode
from moldau.protocol.headers import decode_request_header
from moldau.protocol.messages.fetch import FetchRequest
from unit.broker.requests import as_follower, fetch, fetch_partition, in_session
from unit.broker.world import frame_of

VERSIONS = range(12, 18)
TOPIC_ID = bytes(range(16))
SESSION, EPOCH, REPLICA = 7, 3, 5


def request(version: int, *, session: int = SESSION, epoch: int = EPOCH) -> FetchRequest:
    topic = TOPIC_ID if version >= 13 else "t"
    partitions = [
        fetch_partition(),
        fetch_partition(1, 7, epoch=3, last_fetched_epoch=2 if version >= 12 else -1),
    ]
    made = fetch(*partitions, topic=topic, max_wait_ms=500, max_bytes=99)
    return as_follower(in_session(made, session, epoch), REPLICA, version)


def frame(version: int) -> bytearray:
    return frame_of(request(version), version)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_plain_request_is_read(version: int) -> None:
    question = FollowerQuestion(memoryview(frame(version)))
    topic = TOPIC_ID if version >= 13 else "t"
    assert question.wanted == {
        PartitionKey(topic, 0): Wanted(0, 1_000_000, -1, 0, -1),
        PartitionKey(topic, 1): Wanted(7, 1_000_000, 3, 0, 2),
    }
    assert (question.session_id, question.epoch, question.replica_id) == (SESSION, EPOCH, REPLICA)
    assert (question.max_wait_ms, question.min_bytes, question.max_bytes) == (500, 1, 99)
    assert (question.version, question.uses_ids) == (version, version >= 13)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_request_that_names_nothing_is_plain(version: int) -> None:
    nothing = as_follower(in_session(fetch(), SESSION, EPOCH), REPLICA, version)
    assert FollowerQuestion(memoryview(frame_of(nothing, version))).wanted == {}


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_too_short_or_too_long_is_not_plain(version: int) -> None:
    whole = frame(version)
    for wrong in [whole[:size] for size in range(len(whole))] + [whole + b"\0"]:
        is_in_session(memoryview(wrong))  # must not raise
        with pytest.raises(NOT_PLAIN):
            FollowerQuestion(memoryview(wrong))


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_read_after_any_change_of_a_byte_is_what_the_codec_reads(version: int) -> None:
    plain = frame(version)
    read = 0
    for position in range(4, len(plain)):
        for value in (0, 1, 2, 3, 0x7F, 0x80, 0xFF):
            changed = bytearray(plain)
            changed[position] = value
            try:
                question = FollowerQuestion(memoryview(changed))
            except NOT_PLAIN:
                continue
            read += 1
            assert_same(question, changed, version)
    assert read > 100


def assert_same(question: FollowerQuestion, changed: bytearray, version: int) -> None:
    _, position = decode_request_header(memoryview(changed))
    request, end = decode(FetchRequest, version, memoryview(changed), position)
    assert end == len(changed)
    state = request.replica_state
    assert question.replica_id == (request.replica_id if state is None else state.replica_id)
    assert (question.session_id, question.epoch) == (request.session_id, request.session_epoch)
    assert not request.forgotten_topics_data
    assert not request.rack_id
    assert request.isolation_level == 0
    assert question.max_bytes == request.max_bytes
    assert question.wanted == {
        PartitionKey(topic.topic_id if version >= 13 else topic.topic, one.partition): Wanted(
            one.fetch_offset,
            one.partition_max_bytes,
            one.current_leader_epoch,
            one.log_start_offset,
            one.last_fetched_epoch,
        )
        for topic in request.topics
        for one in topic.partitions
    }


@pytest.mark.parametrize("version", range(10, 18))
def test_only_requests_with_a_session_are_in_one(version: int) -> None:
    is_flexible = version >= 12
    assert is_in_session(memoryview(frame(version))) == is_flexible
    alone = frame_of(request(version, session=0, epoch=-1), version)
    assert not is_in_session(memoryview(alone))
    assert not is_in_session(memoryview(b""))


@pytest.mark.parametrize("version", VERSIONS)
def test_what_begins_or_ends_a_session_is_not_plain(version: int) -> None:
    for session, epoch in ((0, 0), (0, -1), (SESSION, 0), (SESSION, -1), (SESSION, 2**31 - 1)):
        with pytest.raises(NOT_PLAIN):
            FollowerQuestion(
                memoryview(frame_of(request(version, session=session, epoch=epoch), version))
            )


@pytest.mark.parametrize("version", VERSIONS)
def test_consumers_and_the_committed_and_the_patient_are_not_plain(version: int) -> None:
    consumer, committed, patient = (request(version) for _ in range(3))
    as_follower(consumer, -1, version)
    committed.isolation_level = 1
    patient.min_bytes = 2
    for one in (consumer, committed, patient):
        with pytest.raises(NOT_PLAIN):
            FollowerQuestion(memoryview(frame_of(one, version)))
