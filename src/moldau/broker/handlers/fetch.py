"""Fetch (key 1): batches from an offset on, at once or as soon as there are enough."""

from collections.abc import Callable, Mapping

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.requests.fetch_sessions import (
    NO_SESSION,
    Answer,
    Fetch,
    FetchSessions,
    PartitionKey,
    SessionRequest,
    Wanted,
)
from moldau.broker.requests.fetched_records import CONVERTED_BEFORE, allowance_of_request, convert
from moldau.broker.requests.follower_sessions import count_sent, note_fetch, note_told
from moldau.broker.requests.leader_hints import LeaderHints
from moldau.broker.requests.reads import (
    CONSUMER,
    Asked,
    PartitionRead,
    ReadTerms,
    has_news,
    is_high_watermark_news,
    read_all,
    reading,
)
from moldau.errors import ErrorCode, KafkaError
from moldau.metadata.image import ClusterImage
from moldau.model import NO_LEADER_EPOCH, TopicPartition
from moldau.protocol.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
)
from moldau.protocol.primitives import NO_UUID
from moldau.replication.read_replica import nearest, selects_by_rack

READ_COMMITTED = 1
_AT_LEAST_ONE_SINCE = 3
_TOPIC_IDS_SINCE = 13
_FOLLOWERS_READ_SINCE = 11
_LEADER_HINTS_SINCE = 16

Questions = dict[PartitionKey, Asked]
Reads = dict[PartitionKey, PartitionRead]


async def handle(request: FetchRequest, context: Context, broker: Broker) -> FetchResponse:
    version = context.api_version
    now_ms = broker.clock.monotonic_ms()
    fetch = broker.fetch_sessions.begin(
        _session_request(request, version, broker.fetch_sessions), now_ms=now_ms
    )
    config, replica_id = broker.config.replication, _replica_id(request)
    is_rack_aware = selects_by_rack(config.replica_selector_class)
    terms = ReadTerms(
        max_bytes=min(request.max_bytes, config.fetch_max_bytes),
        replica_id=replica_id,
        is_read_committed=request.isolation_level == READ_COMMITTED,
        at_least_one=version >= _AT_LEAST_ONE_SINCE,
        may_read_follower=version >= _FOLLOWERS_READ_SINCE and replica_id == CONSUMER,
        hears_high_watermark=is_rack_aware and replica_id >= 0,
        throttle=broker.leader_throttle if replica_id >= 0 else None,
        now_ms=now_ms,
    )
    if terms.is_follower and fetch.is_incremental and version >= CONVERTED_BEFORE:
        asked, news = await _read_for_follower(request, fetch, terms, broker)
        count_sent(broker, news, terms)
        return await _response(fetch, asked, news, context, broker)
    asked = _questions(fetch, broker.metadata.image)
    is_early = not is_rack_aware and _is_early(request, asked, terms, broker)
    reads: Reads = {}
    if not is_early:
        reads = await context.turns.finish(reading(broker.replicas, asked, terms))
    if terms.is_follower:
        _note_fetches(asked, reads, terms, broker)
    elif is_rack_aware and request.rack_id:
        _refer_to_nearest(request.rack_id, asked, reads, context, broker)
    if is_early or (reads and _must_wait(request, reads)):
        await broker.waiters.until(
            _end_of_wait(request, asked, terms, broker),
            keys=[one.partition for one in asked.values()],
            timeout_s=request.max_wait_ms / 1000,
            operation="Fetch",
        )
        reads = await context.turns.finish(reading(broker.replicas, asked, terms))
    if terms.is_follower:
        note_told(broker, reads, terms, now_ms=broker.clock.monotonic_ms())
    if version < CONVERTED_BEFORE:
        allowance = allowance_of_request()
        for key, read in reads.items():
            await convert(read, asked[key].want.fetch_offset, terms, version, allowance)
    count_sent(broker, reads, terms)
    return await _response(fetch, asked, reads, context, broker)


async def refuse(request: FetchRequest, context: Context, error: KafkaError) -> FetchResponse:
    """The error for the whole request; before version 13 also for every partition."""
    topics = []
    # One that names too many partitions hears it once.
    is_for_each = error.code is not ErrorCode.INVALID_REQUEST
    if context.api_version < _TOPIC_IDS_SINCE and is_for_each:
        for topic in request.topics:
            partitions = [_refused(one.partition, error.code) for one in topic.partitions]
            topics.append(FetchableTopicResponse(topic=topic.topic, partitions=partitions))
    return FetchResponse(error_code=error.code, responses=topics)


def _session_request(
    request: FetchRequest, version: int, sessions: FetchSessions
) -> SessionRequest:
    uses_ids = version >= _TOPIC_IDS_SINCE
    wanted: dict[PartitionKey, Wanted] = {}
    for topic in request.topics:
        sessions.check_count(len(wanted) + len(topic.partitions))
        name: str | bytes = topic.topic_id if uses_ids else topic.topic
        for partition in topic.partitions:
            wanted[PartitionKey(name, partition.partition)] = Wanted(
                partition.fetch_offset,
                partition.partition_max_bytes,
                partition.current_leader_epoch,
                partition.log_start_offset,
                partition.last_fetched_epoch,
            )
    sessions.check_count(len(request.forgotten_topics_data))
    sessions.check_count(sum(len(topic.partitions) for topic in request.forgotten_topics_data))
    forgotten = [
        PartitionKey(topic.topic_id if uses_ids else topic.topic, partition)
        for topic in request.forgotten_topics_data
        for partition in topic.partitions
    ]
    is_follower = _replica_id(request) >= 0
    return SessionRequest(
        request.session_id, request.session_epoch, wanted, forgotten, uses_ids, is_follower
    )


def _replica_id(request: FetchRequest) -> int:
    state = request.replica_state
    return request.replica_id if state is None else state.replica_id


def _questions(fetch: Fetch, image: ClusterImage) -> Questions:
    """What is asked for, by the names of the topics."""
    asked = {}
    for key, want in fetch.wanted.items():
        topic, number = key
        if isinstance(topic, str):
            asked[key] = Asked(TopicPartition(topic, number), want)
        else:
            name = image.names_by_id.get(topic)
            partition = None if name is None else TopicPartition(name, number)
            asked[key] = Asked(partition, want, topic)
    return asked


async def _read_for_follower(
    request: FetchRequest, fetch: Fetch, terms: ReadTerms, broker: Broker
) -> tuple[Questions, Reads]:
    """Read the few partitions of a follower's session that there is news of."""
    session = broker.follower_sessions.of(fetch.session_id, terms.replica_id)
    session.begin(fetch, broker.metadata.image.names_by_id, now_ms=terms.now_ms)
    deadline_ms = terms.now_ms + request.max_wait_ms
    asked = session.questions(fetch)
    reads = read_all(broker.replicas, asked, terms)
    moved = {key: reads[key] for key in fetch.changed if key in reads}
    _note_fetches(asked, moved, terms, broker)
    while _must_wait(request, reads) and not _hears_high_watermark(reads, terms):
        now_ms = broker.clock.monotonic_ms()
        session.note_read(reads, now_ms=now_ms)
        if not await session.watch.until_changed((deadline_ms - now_ms) / 1000, operation="Fetch"):
            break
        asked = session.questions(fetch)
        reads = read_all(broker.replicas, asked, terms)
    session.note_read(reads, now_ms=broker.clock.monotonic_ms())
    session.end(asked, reads, terms)
    note_told(broker, reads, terms, now_ms=broker.clock.monotonic_ms())
    return asked, reads


def _hears_high_watermark(reads: Reads, terms: ReadTerms) -> bool:
    return terms.hears_high_watermark and any(
        is_high_watermark_news(read.partition, terms)
        for read in reads.values()
        if read.partition is not None and read.error is None
    )


def _note_fetches(asked: Questions, reads: Reads, terms: ReadTerms, broker: Broker) -> None:
    for key, read in reads.items():
        if not read.is_answer_due and read.partition is not None:
            note_fetch(broker, read.partition, terms, asked[key].want)


def _refer_to_nearest(
    rack: str, asked: Questions, reads: Reads, context: Context, broker: Broker
) -> None:
    """Send a consumer to followers in its own rack."""
    listener = context.client.listener
    brokers = broker.metadata.image.brokers.values()
    racks = {node.id: node.rack for node in brokers if listener in node.endpoints}
    for key, read in reads.items():
        partition = read.partition
        if partition is not None and partition.is_leader and not read.is_answer_due:
            replica = nearest(partition, asked[key].want.fetch_offset, rack, racks)
            if replica is not None:
                read.refer_to(replica)


def _is_early(request: FetchRequest, asked: Questions, terms: ReadTerms, broker: Broker) -> bool:
    """Whether a consumer is where everything ends, as most are: nothing need be read to see it."""
    return (
        terms.replica_id == CONSUMER
        and min(request.max_wait_ms, request.min_bytes) > 0
        and all(one.want.last_fetched_epoch == NO_LEADER_EPOCH for one in asked.values())
        and bool(asked)
        and not has_news(broker.replicas, asked, terms)
    )


def _must_wait(request: FetchRequest, reads: Reads) -> bool:
    size = 0
    for read in reads.values():
        if read.is_answer_due:
            return False
        size += read.size
    return size < request.min_bytes and request.max_wait_ms > 0


def _end_of_wait(
    request: FetchRequest, asked: Questions, terms: ReadTerms, broker: Broker
) -> Callable[[], bool]:
    """Enough bytes, or something else that the client must hear."""

    def is_over() -> bool:
        if not has_news(broker.replicas, asked, terms):
            return False
        return request.min_bytes <= 1 or not _must_wait(
            request, read_all(broker.replicas, asked, terms)
        )

    return is_over


async def _response(
    fetch: Fetch,
    asked: Questions,
    reads: Reads,
    context: Context,
    broker: Broker,
) -> FetchResponse:
    data = {
        key: _partition_data(key, read, broker) async for key, read in context.each(reads.items())
    }
    topics: list[FetchableTopicResponse] = []
    last_topic: str | bytes | None = None
    told = list(data)
    if fetch.session_id != NO_SESSION:
        told = fetch.select({key: _answer(partition) for key, partition in data.items()})
    async for key in context.each(told):
        topic = key.topic
        if topic != last_topic:
            last_topic = topic
            name, topic_id = (topic, NO_UUID) if isinstance(topic, str) else ("", topic)
            topics.append(FetchableTopicResponse(topic=name, topic_id=topic_id, partitions=[]))
        topics[-1].partitions.append(data[key])
    response = FetchResponse(session_id=fetch.session_id, responses=topics)
    if context.api_version >= _LEADER_HINTS_SINCE:
        _add_leader_hints(response, {key: asked[key] for key in told}, data, context, broker)
    return response


def _answer(data: PartitionData) -> Answer:
    return Answer(
        data.error_code,
        data.high_watermark,
        data.log_start_offset,
        has_records=bool(data.records),
        has_hint=data.preferred_read_replica >= 0 or data.diverging_epoch is not None,
    )


def _refused(number: int, code: int) -> PartitionData:
    return PartitionData(
        partition_index=number,
        error_code=code,
        high_watermark=-1,
        aborted_transactions=None,
        records=b"",
    )


def _partition_data(key: PartitionKey, read: PartitionRead, broker: Broker) -> PartitionData:
    traffic = broker.traffic
    if read.error is not None or read.partition is None:
        assert read.error is not None
        traffic.all.failed_fetch_requests.value += 1
        return _refused(key.partition, read.error.code)
    log = read.partition.log
    of_topic, of_all = traffic.of(log.partition.topic), traffic.all
    records = b"" if read.records is None else read.records
    of_topic.fetch_requests.value += 1
    of_all.fetch_requests.value += 1
    data = PartitionData(
        partition_index=key.partition,
        error_code=ErrorCode.NONE,
        high_watermark=log.high_watermark,
        last_stable_offset=log.last_stable_offset,
        log_start_offset=log.log_start_offset,
        aborted_transactions=None,
        preferred_read_replica=read.preferred_replica,
        records=records,
    )
    if read.aborted is not None:
        data.aborted_transactions = [
            AbortedTransaction(producer_id=one.producer_id, first_offset=one.first_offset)
            for one in read.aborted
        ]
    if read.diverging is not None:
        epoch, end_offset = read.diverging
        data.diverging_epoch = EpochEndOffset(epoch=epoch, end_offset=end_offset)
    return data


def _add_leader_hints(
    response: FetchResponse,
    told: Questions,
    data: Mapping[PartitionKey, PartitionData],
    context: Context,
    broker: Broker,
) -> None:
    hints = LeaderHints(broker.metadata.image, context.client)
    for key, one in told.items():
        if one.partition is not None:
            leader = hints.leader_for(data[key].error_code, *one.partition)
            if leader is not None:
                data[key].current_leader = LeaderIdAndEpoch(
                    leader_id=leader.leader, leader_epoch=leader.leader_epoch
                )
    response.node_endpoints = [
        NodeEndpoint(node_id=node.id, host=host, port=port, rack=node.rack)
        for node, host, port in hints.nodes()
    ]
