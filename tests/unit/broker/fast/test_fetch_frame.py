"""A Fetch request is parsed as the messages' codec and the handler read it, or not at all."""

from types import ModuleType
from typing import Any

import pytest

from moldau.broker.context import Context
from moldau.broker.fast import fetch_frame as source
from moldau.broker.fast.fetch_frame import FRAME_SIZE_MAX, VERSION_MAX, VERSION_MIN
from moldau.broker.handlers.fetch import _parsed
from moldau.broker.requests.fetch_request import ParsedFetch, PartitionKey, Wanted
from moldau.broker.requests.fetch_sessions import FetchSessions
from moldau.protocol.codec import decode
from moldau.protocol.headers import decode_request_header
from moldau.protocol.messages.fetch import FetchRequest, ForgottenTopic
from moldau.runtime import native
from unit.broker.sample_requests import as_follower, fetch, fetch_partition, in_session
from unit.broker.world import CLIENT, CORRELATION_ID, frame_of

compiled = native.kernel("moldau.broker.fast._fetch_frame", "moldau.broker.fast.fetch_frame")
FORMS = pytest.mark.parametrize("module", [source, compiled], ids=["source", "compiled"])
VERSIONS = pytest.mark.parametrize("version", range(VERSION_MIN, VERSION_MAX + 1))
SESSIONS = FetchSessions(10, lambda: 1)
TOPIC_ID = bytes(range(16))


def topic_of(version: int, name: str = "t") -> str | bytes:
    return TOPIC_ID if version >= 13 else name


def consumers(version: int) -> FetchRequest:
    """A request with everything that the versions have in common."""
    partitions = fetch_partition(), fetch_partition(1, 7, epoch=3, max_bytes=9)
    made = fetch(*partitions, topic=topic_of(version), max_wait_ms=5, min_bytes=6, max_bytes=99)
    made.topics += fetch(fetch_partition(2), topic=topic_of(version, "u" * 200)).topics
    made.isolation_level = 1
    made.forgotten_topics_data = [
        ForgottenTopic(
            topic="" if version >= 13 else "t",
            topic_id=TOPIC_ID if version >= 13 else bytes(16),
            partitions=[4, 5],
        )
    ]
    if version >= 11:
        made.rack_id = "rack"
    return in_session(made, 7, 3)


def followers(version: int) -> FetchRequest:
    last_epoch = 2 if version >= 12 else -1
    partitions = fetch_partition(), fetch_partition(1, 7, epoch=3, last_fetched_epoch=last_epoch)
    made = fetch(*partitions, topic=topic_of(version), max_wait_ms=500)
    return as_follower(in_session(made, 7, 3), 5, version)


def by_codec(frame: bytes | bytearray) -> ParsedFetch:
    """The request as the handler gets it; the frame must end where it ends."""
    header, position = decode_request_header(memoryview(frame))
    request, end = decode(FetchRequest, header.api_version, memoryview(frame), position)
    assert end == len(frame)
    context = Context(header.api_version, header.client_id or "", CLIENT)
    return _parsed(request, context, SESSIONS)


@FORMS
@VERSIONS
@pytest.mark.parametrize("made", [consumers, followers])
def test_requests_are_parsed_as_the_handler_parses_them(
    module: ModuleType, version: int, made: Any
) -> None:
    frame = frame_of(made(version), version)
    request, correlation_id = module.parse(CLIENT, memoryview(frame))
    assert request == by_codec(frame)
    assert correlation_id == CORRELATION_ID
    assert (request.client, request.client_id) == (CLIENT, "test")
    assert request.session_id == 7


@FORMS
@VERSIONS
def test_one_that_names_nothing_is_parsed(module: ModuleType, version: int) -> None:
    frame = frame_of(in_session(fetch(), 7, 3), version, client_id=None)
    request, _ = module.parse(CLIENT, memoryview(frame))
    assert request == by_codec(frame)
    assert (request.wanted, request.client_id, request.is_follower) == ({}, "", False)


@FORMS
@VERSIONS
@pytest.mark.parametrize("count", [126, 127, 128])
def test_counts_of_one_byte_and_of_two_are_read(
    module: ModuleType, version: int, count: int
) -> None:
    partitions = fetch(*map(fetch_partition, range(count)), topic=topic_of(version))
    topics = fetch()
    for number in range(count):
        topic = number.to_bytes(16, "big") if version >= 13 else str(number)
        topics.topics += fetch(fetch_partition(), topic=topic).topics
    forgotten = in_session(fetch(), 7, 3, forgotten=list(range(count)))
    for made in (partitions, topics, forgotten):
        frame = frame_of(made, version)
        request, _ = module.parse(CLIENT, memoryview(frame))
        assert request == by_codec(frame)
        assert len(request.wanted) + len(request.forgotten) == count


@FORMS
@VERSIONS
def test_of_a_partition_named_twice_the_last_word_counts(module: ModuleType, version: int) -> None:
    again = fetch(fetch_partition(0, 1), fetch_partition(0, 2), topic=topic_of(version))
    request, _ = module.parse(CLIENT, memoryview(frame_of(again, version)))
    key = PartitionKey(topic_of(version), 0)
    assert request.wanted == {key: Wanted(-1, 2, -1, 0, 1_000_000)}


@FORMS
@VERSIONS
@pytest.mark.parametrize("made", [consumers, followers])
def test_what_is_too_short_or_too_long_is_not_parsed(
    module: ModuleType, version: int, made: Any
) -> None:
    whole = frame_of(made(version), version)
    for wrong in [whole[:size] for size in range(len(whole))] + [whole + b"\0"]:
        assert module.parse(CLIENT, memoryview(wrong)) is None


@FORMS
@VERSIONS
@pytest.mark.parametrize("made", [consumers, followers])
def test_after_any_change_of_a_byte_the_codec_reads_the_same(
    module: ModuleType, version: int, made: Any
) -> None:
    plain = frame_of(made(version), version)
    parsed = 0
    for position in range(len(plain)):
        for value in {0, 1, 2, 3, 0x7F, 0x80, 0xFF, plain[position] ^ 1, plain[position] ^ 0x10}:
            changed = bytearray(plain)
            changed[position] = value
            found = module.parse(CLIENT, memoryview(changed))
            if found is not None:
                parsed += 1
                assert found[0] == by_codec(changed)
    assert parsed > 100


@FORMS
def test_other_versions_apis_and_long_frames_are_not_parsed(module: ModuleType) -> None:
    for version in range(VERSION_MIN):
        frame = frame_of(fetch(fetch_partition()), version)
        assert module.parse(CLIENT, memoryview(frame)) is None
    newer = frame_of(fetch(fetch_partition(), topic=TOPIC_ID), 17)
    newer[3] = 18
    assert module.parse(CLIENT, memoryview(newer)) is None
    other = frame_of(fetch(fetch_partition()), 12)
    other[1] = 2
    assert module.parse(CLIENT, memoryview(other)) is None
    unnamed = frame_of(fetch(fetch_partition()), 12, client_id=None)
    unnamed[8:10] = (-2).to_bytes(2, "big", signed=True)
    assert module.parse(CLIENT, memoryview(unnamed)) is None
    many = frame_of(fetch(*map(fetch_partition, range(300))), 12)
    assert len(many) > FRAME_SIZE_MAX
    assert module.parse(CLIENT, memoryview(many)) is None


@FORMS
def test_tagged_fields_that_are_seldom_are_left_to_the_codec(module: ModuleType) -> None:
    named = fetch(fetch_partition())
    named.cluster_id = "c"
    assert module.parse(CLIENT, memoryview(frame_of(named, 12))) is None
    placed = fetch(fetch_partition(), topic=TOPIC_ID)
    placed.topics[0].partitions[0].replica_directory_id = TOPIC_ID
    assert module.parse(CLIENT, memoryview(frame_of(placed, 17))) is None


@FORMS
@VERSIONS
def test_no_bytes_break_it(module: ModuleType, version: int) -> None:
    start = frame_of(fetch(), version)[:-4]
    for byte in range(256):
        for size in (0, 1, 5, 40):
            frame = bytes(start) + bytes([byte]) * size
            found = module.parse(CLIENT, memoryview(frame))
            if found is not None:
                assert found[0] == by_codec(frame)
