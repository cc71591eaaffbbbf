"""The short way of Fetch writes what the codec writes, and reads what it reads, or nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.config.broker.replication import ReplicationConfig
from moldau.config.topic import TopicConfig
from moldau.errors import ProtocolError
from moldau.model import TopicPartition
from moldau.protocol.codec import decode, encode
from moldau.protocol.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
    ReplicaState,
)
from moldau.records.batch import stamp, write_batch
from moldau.records.record import Record
from moldau.replication import follower_requests, plain_fetch
from moldau.replication.fetch_loop import Terms
from moldau.replication.fetch_session import FetchPosition, Key, ReplicaFetchSession, Said
from moldau.replication.fetcher import ReplicaFetcher
from moldau.replication.throttle import Rate, Throttle
from moldau.runtime.clock import Moment
from moldau.runtime.waiters import Waiters
from unit.broker.world import SettableClock
from unit.replication.replica_set import T0, ReplicaSet

VERSIONS = range(12, 18)
INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)
COUNTS = st.integers(0, 2**31 - 1)
# Long names and many partitions need more than one byte for their lengths.
TOPICS = st.one_of(st.text("aä.", max_size=4), st.just("long" * 50))
WANTED = st.builds(FetchPosition, INT32, INT64, INT32, INT64, INT32)
WANTS = st.dictionaries(st.tuples(TOPICS, st.integers(0, 300)), WANTED, max_size=8)
CONFIGS = st.builds(
    ReplicationConfig,
    replica_fetch_wait_max_ms=COUNTS,
    replica_fetch_min_bytes=COUNTS,
    replica_fetch_response_max_bytes=COUNTS,
)


def topic_id(name: str) -> bytes:
    return name.encode().ljust(16, b"!")[:16]


def said_of(
    wants: dict[tuple[str, int], FetchPosition], version: int
) -> dict[TopicPartition, Said]:
    return {
        TopicPartition(*name): Said(
            Key(topic_id(name[0]) if version > 12 else name[0], name[1]), want
        )
        for name, want in wants.items()
    }


def as_codec(
    version: int, config: ReplicationConfig, session: ReplicaFetchSession, said: list[Said]
) -> bytes:
    changes = {TopicPartition(str(one.key.topic), one.key.partition): one for one in said}
    has_state = version >= 15
    request = FetchRequest(
        replica_id=-1 if has_state else 5,
        replica_state=ReplicaState(replica_id=5) if has_state else None,
        max_wait_ms=config.replica_fetch_wait_max_ms,
        min_bytes=config.replica_fetch_min_bytes,
        max_bytes=config.replica_fetch_response_max_bytes,
        session_id=session.session_id,
        session_epoch=session.epoch,
        topics=ReplicaFetchSession().next(changes, uses_ids=version > 12)[0],
        forgotten_topics_data=[],
    )
    return encode(request, version)


@given(
    version=st.sampled_from(VERSIONS),
    config=CONFIGS,
    wants=WANTS,
    numbers=st.tuples(st.integers(1, 2**31 - 1), st.integers(1, 2**31 - 1)),
)
def test_requests_are_written_as_by_the_codec(
    version: int,
    config: ReplicationConfig,
    wants: dict[tuple[str, int], FetchPosition],
    numbers: tuple[int, int],
) -> None:
    session = ReplicaFetchSession()
    session.session_id, session.epoch = numbers
    said = list(said_of(wants, version).values())
    written = plain_fetch.RequestWriter(version, 5).write(config, session, said)
    assert written == as_codec(version, config, session, said)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_request_with_many_partitions_is_written_as_by_the_codec(version: int) -> None:
    session, config = ReplicaFetchSession(), ReplicationConfig()
    session.session_id, session.epoch = 7, 8
    wants = {("t", number): FetchPosition(1, number, 1, 0, 10) for number in range(300)}
    said = list(said_of(wants, version).values())
    written = plain_fetch.RequestWriter(version, 5).write(config, session, said)
    assert written == as_codec(version, config, session, said)


PLAIN_PARTITIONS = st.builds(
    PartitionData,
    partition_index=INT32,
    error_code=st.just(0),
    high_watermark=INT64,
    last_stable_offset=INT64,
    log_start_offset=INT64,
    aborted_transactions=st.sampled_from([None, []]),
    preferred_read_replica=INT32,
    records=st.one_of(st.none(), st.binary(max_size=300)),
)
ODD_PARTITIONS = st.builds(
    PartitionData,
    partition_index=INT32,
    error_code=st.sampled_from([0, 1, 6]),
    high_watermark=INT64,
    diverging_epoch=st.one_of(st.none(), st.builds(EpochEndOffset, epoch=INT32, end_offset=INT64)),
    current_leader=st.one_of(st.none(), st.builds(LeaderIdAndEpoch, leader_id=INT32)),
    aborted_transactions=st.sampled_from(
        [None, [], [AbortedTransaction(producer_id=1, first_offset=2)]]
    ),
    records=st.just(b"records"),
)


def topics_of(partitions: st.SearchStrategy[PartitionData]) -> st.SearchStrategy[FetchResponse]:
    topics = st.lists(
        st.builds(
            lambda name, some: FetchableTopicResponse(
                topic=name, topic_id=topic_id(name), partitions=some
            ),
            TOPICS,
            st.lists(partitions, max_size=3),
        ),
        max_size=3,
    )
    return st.builds(FetchResponse, throttle_time_ms=INT32, session_id=INT32, responses=topics)


def as_decoded(data: bytes, version: int) -> object:
    response, end = decode(FetchResponse, version, memoryview(data))
    assert end == len(data)
    found = [
        (tuple(key), one.high_watermark, one.log_start_offset, one.records or b"")
        for key, one in follower_requests.fetched(response)
    ]
    return response.session_id, found


@given(version=st.sampled_from(VERSIONS), response=topics_of(PLAIN_PARTITIONS))
def test_plain_answers_are_read_as_by_the_codec(version: int, response: FetchResponse) -> None:
    data = encode(response, version)
    before = b"header"
    read = plain_fetch.read_answer(memoryview(before + data), len(before), version > 12)
    assert read == as_decoded(data, version)


@given(
    version=st.sampled_from(VERSIONS),
    response=topics_of(ODD_PARTITIONS),
    error_code=st.sampled_from([0, 71]),
    has_endpoints=st.booleans(),
)
def test_other_answers_are_left_to_the_codec(
    version: int, response: FetchResponse, error_code: int, has_endpoints: bool
) -> None:
    response.error_code = error_code
    if has_endpoints and version >= 16:
        response.node_endpoints = [NodeEndpoint(node_id=1, host="h", port=1)]
    is_plain = not (error_code or response.node_endpoints) and not any(
        one.error_code or one.diverging_epoch or one.current_leader or one.aborted_transactions
        for topic in response.responses
        for one in topic.partitions
    )
    data = encode(response, version)
    read = plain_fetch.read_answer(memoryview(data), 0, version > 12)
    assert read == (as_decoded(data, version) if is_plain else None)


def test_an_aborted_transaction_is_not_taken_for_records() -> None:
    # As a length, its producer id says that the rest of the answer is records.
    aborted = AbortedTransaction(producer_id=0x12000001, first_offset=2)
    partition = PartitionData(
        partition_index=0,
        error_code=0,
        high_watermark=9,
        aborted_transactions=[aborted],
        records=b"",
    )
    topics = [FetchableTopicResponse(topic="t", partitions=[partition])]
    data = encode(FetchResponse(responses=topics), 12)
    assert plain_fetch.read_answer(memoryview(data), 0, False) is None
    partition.aborted_transactions = []
    data = encode(FetchResponse(responses=topics), 12)
    assert plain_fetch.read_answer(memoryview(data), 0, False) is not None


@given(version=st.sampled_from(VERSIONS), response=topics_of(PLAIN_PARTITIONS), data=st.data())
def test_answers_that_are_cut_or_too_long_are_left_to_the_codec(
    version: int, response: FetchResponse, data: st.DataObject
) -> None:
    whole = encode(response, version)
    end = data.draw(st.integers(0, len(whole) - 1))
    assert plain_fetch.read_answer(memoryview(whole)[:end], 0, version > 12) is None
    assert plain_fetch.read_answer(memoryview(whole + b"\0"), 0, version > 12) is None


@given(version=st.sampled_from(VERSIONS), response=topics_of(PLAIN_PARTITIONS), data=st.data())
def test_hostile_answers_are_read_as_by_the_codec_or_not_at_all(
    version: int, response: FetchResponse, data: st.DataObject
) -> None:
    damaged = bytearray(encode(response, version))
    for _ in range(data.draw(st.integers(1, 3))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    read = plain_fetch.read_answer(memoryview(damaged), 0, version > 12)
    if read is None:
        return
    try:
        assert read == as_decoded(bytes(damaged), version)
    except ProtocolError as error:
        raise AssertionError(f"the codec refuses it: {error}") from error


@given(data=st.binary(max_size=200), uses_ids=st.booleans())
def test_any_bytes_are_read_without_an_error(data: bytes, uses_ids: bool) -> None:
    plain_fetch.read_answer(memoryview(data), 0, uses_ids)


class KeepingUp:
    """A follower with one partition that is known to its leader, and empty."""

    def __init__(self, listed: tuple[str, ...] = ()) -> None:
        self.member = ReplicaSet(count=2, min_insync_replicas=1).members[2]
        self.fetcher = ReplicaFetcher(backoff_max_ms=1_000, truncates_by_fetch=True)
        self.follow()
        following = self.fetcher.get(T0)
        assert following is not None
        self.session, self.waiters = ReplicaFetchSession(), Waiters()
        max_bytes = ReplicationConfig().replica_fetch_max_bytes
        said = Said(Key(*T0), follower_requests.wanted(following, max_bytes))
        self.session.next({T0: said}, uses_ids=False)
        self.session.answered(77)
        self.fetcher.untouch()
        self.terms = Terms(
            replica_id=2,
            protocol="3.9",
            open_channel=lambda _: None,
            config=ReplicationConfig,
            clock=SettableClock(),
            throttle=Throttle(2, lambda _: listed, lambda: 0, Rate()),
        )
        self.plain = plain_fetch.PlainFetch(self.fetcher, self.session, self.terms, self.waiters)
        self.plain.begin(12)

    def follow(self) -> None:
        self.fetcher.follow(self.member.partition, Moment(0, 0))

    def reply(self, number: int = 0, session_id: int = 77, high_watermark: int = 1) -> bytes | None:
        batch = write_batch([Record(0, 1_000, None, b"v", ())])
        stamp(batch, 0, base_offset=0, leader_epoch=0)
        data = PartitionData(
            partition_index=number,
            error_code=0,
            high_watermark=high_watermark,
            log_start_offset=0,
            records=bytes(batch),
        )
        topics = [FetchableTopicResponse(topic="t", partitions=[data])]
        response = FetchResponse(session_id=session_id, responses=topics)
        return self.plain.reply(memoryview(encode(response, 12)), 0)

    def reply_to_nothing(self) -> bytes | None:
        response = FetchResponse(session_id=77, responses=[])
        return self.plain.reply(memoryview(encode(response, 12)), 0)

    @property
    def has_records(self) -> bool:
        return self.member.log.log_end_offset > 0


def test_records_are_taken_and_the_next_request_says_so() -> None:
    follower = KeepingUp()
    watch = follower.waiters.watch()
    watch.add(T0)
    body = follower.reply()
    assert body
    request, _ = decode(FetchRequest, 12, memoryview(body))
    assert (request.session_id, request.session_epoch) == (77, 2)
    assert request.topics[0].partitions[0].fetch_offset == 1
    assert follower.has_records
    assert watch.take() == [T0]
    assert follower.terms.bytes_in.value == follower.member.log.size
    asked = follower.session.asked(Key(*T0))
    assert asked is not None
    assert asked[1].offset == 1


def test_the_answer_of_another_session_is_not_touched() -> None:
    follower = KeepingUp()
    assert follower.reply(session_id=78) is None
    assert not follower.has_records
    assert follower.session.epoch == 1


def test_where_flushes_are_waited_for_the_answer_is_not_touched() -> None:
    follower = KeepingUp()
    follower.member.log.config = TopicConfig(flush_messages=1)
    assert follower.reply() is None
    assert not follower.has_records


def test_what_was_not_asked_for_is_passed_over() -> None:
    follower = KeepingUp()
    assert follower.reply(number=5)
    assert not follower.has_records


def test_of_a_partition_that_has_left_nothing_is_taken() -> None:
    follower = KeepingUp()
    follower.fetcher.drop(T0)
    assert follower.reply() == plain_fetch.NOTHING_TO_SEND
    assert not follower.has_records


def test_what_was_asked_for_in_an_earlier_epoch_is_not_taken() -> None:
    follower = KeepingUp()
    partition = follower.member.partition
    partition.follow(partition.state._replace(leader_epoch=1))
    follower.follow()
    assert follower.reply()
    assert not follower.has_records


@pytest.mark.parametrize(("high_watermark", "is_held_up"), [(1, False), (2, True)])
def test_what_is_behind_and_throttled_is_not_asked_for_at_once(
    high_watermark: int, is_held_up: bool
) -> None:
    follower = KeepingUp(listed=("*",))
    body = follower.reply(high_watermark=high_watermark)
    assert (body == plain_fetch.NOTHING_TO_SEND) == is_held_up
    assert follower.has_records


def test_only_what_has_moved_is_asked_for_again() -> None:
    follower = KeepingUp()
    body = follower.reply_to_nothing()
    assert body
    assert decode(FetchRequest, 12, memoryview(body))[0].topics == []
    follower.fetcher.touch(T0)
    body = follower.reply_to_nothing()
    assert body
    assert decode(FetchRequest, 12, memoryview(body))[0].topics == []


def test_a_partition_that_the_session_does_not_know_is_not_asked_for_at_once() -> None:
    follower = KeepingUp()
    follower.session.restart()
    follower.fetcher.touch(T0)
    assert follower.reply_to_nothing() == plain_fetch.NOTHING_TO_SEND


def test_a_topic_that_has_another_id_by_now_is_not_asked_for_at_once() -> None:
    follower = KeepingUp()
    follower.session.uses_ids = True
    follower.fetcher.touch(T0)
    assert follower.reply_to_nothing() == plain_fetch.NOTHING_TO_SEND


def test_requests_are_of_the_version_of_the_connection() -> None:
    follower = KeepingUp()
    follower.plain.begin(15)
    body = follower.reply_to_nothing()
    assert body
    request, end = decode(FetchRequest, 15, memoryview(body))
    assert (end, request.replica_state) == (len(body), ReplicaState(replica_id=2))
