"""Fetch (key 1): batches from an offset on, at once or as soon as there are enough."""

from collections.abc import Iterator, Mapping

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.fetch_sessions import (
    Answer,
    Fetch,
    PartitionKey,
    SessionRequest,
    Wanted,
)
from moldau.broker.leader_hints import LeaderHints
from moldau.broker.reads import PartitionRead, ReadTerms, has_news, read_all
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.protocol.messages.fetch import (
    AbortedTransaction,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
)
from moldau.records.downconvert import down_convert, magic_for_fetch
from moldau.runtime.file_range import FileRange

READ_COMMITTED = 1
_TOPIC_IDS_SINCE = 13
_ZSTD_SINCE = 10
_CONVERTED_MAX_BYTES = 64 * 2**20

Reads = dict[PartitionKey, PartitionRead]


async def handle(request: FetchRequest, context: Context, broker: Broker) -> FetchResponse:
    fetch = broker.fetch_sessions.begin(
        _session_request(request, context.api_version), now_ms=broker.clock.monotonic_ms()
    )
    terms = ReadTerms(
        max_bytes=min(request.max_bytes, broker.config.replication.fetch_max_bytes),
        replica_id=_replica_id(request),
        is_read_committed=request.isolation_level == READ_COMMITTED,
        at_least_one=context.api_version >= 3,
        now_ms=broker.clock.monotonic_ms(),
    )
    named, unknown = _named(fetch, broker)
    reads = read_all(broker.replicas, named, terms)
    if _must_wait(request, reads, unknown):
        wait = _Wait(request, broker, named, terms)
        await broker.waiters.until(
            wait.is_over, keys=list(named), timeout_s=request.max_wait_ms / 1000
        )
        reads = read_all(broker.replicas, named, terms)
    if terms.is_follower:
        for name in named:
            broker.waiters.wake(name)  # its fetch may have moved the high watermark
    by_key = {key: reads[name] for key, name in _keys(fetch, broker) if name in reads}
    return _response(fetch, {**by_key, **unknown}, context, broker)


class _Wait:
    """The end of waiting: enough bytes, or something else that the client must hear."""

    def __init__(
        self,
        request: FetchRequest,
        broker: Broker,
        named: Mapping[TopicPartition, Wanted],
        terms: ReadTerms,
    ) -> None:
        self._min_bytes = request.min_bytes
        self._broker = broker
        self._named = named
        self._terms = terms

    def is_over(self) -> bool:
        replicas = self._broker.replicas
        if not has_news(replicas, self._named, self._terms):
            return False
        if self._min_bytes <= 1:
            return True
        reads = read_all(replicas, self._named, self._terms).values()
        return any(read.error for read in reads) or (
            sum(read.size for read in reads) >= self._min_bytes
        )


def _session_request(request: FetchRequest, version: int) -> SessionRequest:
    uses_ids = version >= _TOPIC_IDS_SINCE
    wanted = {}
    for topic in request.topics:
        name: str | bytes = topic.topic_id if uses_ids else topic.topic
        for partition in topic.partitions:
            wanted[PartitionKey(name, partition.partition)] = Wanted(
                partition.fetch_offset,
                partition.partition_max_bytes,
                partition.current_leader_epoch,
                partition.log_start_offset,
                partition.last_fetched_epoch,
            )
    forgotten = [
        PartitionKey(topic.topic_id if uses_ids else topic.topic, partition)
        for topic in request.forgotten_topics_data
        for partition in topic.partitions
    ]
    return SessionRequest(
        request.session_id,
        request.session_epoch,
        wanted,
        forgotten,
        uses_ids,
        _replica_id(request) >= 0,
    )


def _replica_id(request: FetchRequest) -> int:
    state = request.replica_state
    return request.replica_id if state is None else state.replica_id


def _keys(fetch: Fetch, broker: Broker) -> Iterator[tuple[PartitionKey, TopicPartition | None]]:
    """The partitions by name; None for a topic id that is not known."""
    names_by_id = broker.metadata.image.names_by_id
    for key in fetch.wanted:
        topic = key.topic if isinstance(key.topic, str) else names_by_id.get(key.topic)
        yield key, None if topic is None else TopicPartition(topic, key.partition)


def _named(fetch: Fetch, broker: Broker) -> tuple[dict[TopicPartition, Wanted], Reads]:
    named, unknown = {}, {}
    for key, name in _keys(fetch, broker):
        if name is None:
            unknown[key] = PartitionRead(KafkaError(ErrorCode.UNKNOWN_TOPIC_ID))
        else:
            named[name] = fetch.wanted[key]
    return named, unknown


def _must_wait(
    request: FetchRequest, reads: Mapping[TopicPartition, PartitionRead], unknown: Reads
) -> bool:
    if request.max_wait_ms <= 0 or not reads or unknown:
        return False
    if any(read.error for read in reads.values()):
        return False
    return sum(read.size for read in reads.values()) < request.min_bytes


def _response(fetch: Fetch, reads: Reads, context: Context, broker: Broker) -> FetchResponse:
    hints = LeaderHints(broker.metadata.image, context.client)
    data = {
        key: _partition_data(key, read, fetch.wanted[key], context, broker)
        for key, read in reads.items()
    }
    told = fetch.select({key: _answer(partition) for key, partition in data.items()})
    topics: list[FetchableTopicResponse] = []
    last_topic: str | bytes | None = None
    for key in told:
        if key.topic != last_topic:
            last_topic = key.topic
            name, topic_id = (
                (key.topic, bytes(16)) if isinstance(key.topic, str) else ("", key.topic)
            )
            topics.append(FetchableTopicResponse(topic=name, topic_id=topic_id, partitions=[]))
        topics[-1].partitions.append(data[key])
        leader = _leader(hints, key, data[key], broker)
        if leader is not None:
            data[key].current_leader = leader
    response = FetchResponse(session_id=fetch.session_id, responses=topics)
    if context.api_version >= 16:
        response.node_endpoints = [
            NodeEndpoint(node_id=node.id, host=host, port=port, rack=node.rack)
            for node, host, port in hints.nodes()
        ]
    return response


def _leader(
    hints: LeaderHints, key: PartitionKey, data: PartitionData, broker: Broker
) -> LeaderIdAndEpoch | None:
    image = broker.metadata.image
    topic = key.topic if isinstance(key.topic, str) else image.names_by_id.get(key.topic)
    found = topic and hints.leader_for(data.error_code, topic, key.partition)
    if not found:
        return None
    return LeaderIdAndEpoch(leader_id=found.leader, leader_epoch=found.leader_epoch)


def _answer(data: PartitionData) -> Answer:
    return Answer(
        data.error_code,
        data.high_watermark,
        data.log_start_offset,
        has_records=bool(data.records),
        has_hint=data.preferred_read_replica >= 0 or data.diverging_epoch is not None,
    )


def _partition_data(
    key: PartitionKey, read: PartitionRead, want: Wanted, context: Context, broker: Broker
) -> PartitionData:
    if read.error is None:
        try:
            records = _records(read, want, context.api_version)
        except KafkaError as error:
            read.error = error
    if read.error is not None or read.partition is None:
        code = ErrorCode.UNKNOWN_SERVER_ERROR if read.error is None else read.error.code
        return PartitionData(
            partition_index=key.partition,
            error_code=code,
            high_watermark=-1,
            aborted_transactions=None,
            records=b"",
        )
    log = read.partition.log
    for counters in (broker.traffic.of(log.partition.topic), broker.traffic.all):
        counters.fetch_requests.value += 1
        counters.bytes_out.value += len(records)
    return PartitionData(
        partition_index=key.partition,
        error_code=ErrorCode.NONE,
        high_watermark=log.high_watermark,
        last_stable_offset=log.last_stable_offset,
        log_start_offset=log.log_start_offset,
        aborted_transactions=None
        if read.aborted is None
        else [
            AbortedTransaction(producer_id=one.producer_id, first_offset=one.first_offset)
            for one in read.aborted
        ],
        records=records,
    )


def _records(read: PartitionRead, want: Wanted, version: int) -> FileRange | bytes | bytearray:
    """The batches as they lie on disk, or rewritten for a client that cannot read them."""
    assert read.partition is not None
    stretch = None if read.fetched is None else read.fetched.range
    if stretch is None:
        return b""
    config = read.partition.log.config
    if version < _ZSTD_SINCE and config.compression_type == "zstd":
        raise KafkaError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, "zstd needs Fetch version 10")
    magic = magic_for_fetch(version)
    if magic >= 2:
        return stretch
    if not config.message_downconversion_enable:
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, "down-conversion is disabled")
    return down_convert(
        stretch.read(),
        to_magic=magic,
        start_offset=want.fetch_offset,
        limit_bytes=_CONVERTED_MAX_BYTES,
    )
