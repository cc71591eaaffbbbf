"""Consumers without a group: they read a partition on and on, and remember everything."""

import asyncio
from dataclasses import dataclass, field

from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
)
from moldau.records.batch import crc_is_valid, iterate_headers, read_records
from moldau.records.control import read_end_marker
from moldau.runtime.file_range import FileRange
from simulation.client import Client, require
from simulation.history import History, Read

_WAIT_MS = 500
_MAX_BYTES = 65_536
_BATCH_MAX_BYTES = 1 << 20


@dataclass(slots=True)
class Fetched:
    """What one fetch gave: the wanted records, where to go on, and where the log ends."""

    records: list[tuple[int, str]] = field(default_factory=list)
    next_offset: int = 0
    high_watermark: int = 0
    stable_offset: int = 0


class Reader:
    """Follows one partition."""

    def __init__(
        self, client: Client, partition: int, history: History, *, is_committed_only: bool
    ) -> None:
        self._client = client
        self._partition = partition
        self._history = history
        self._is_committed_only = is_committed_only

    async def run(self, until_s: float) -> None:
        """Read until a moment."""
        offset = 0
        loop = asyncio.get_running_loop()
        while loop.time() < until_s:
            try:
                fetched = await fetch(
                    self._client, self._partition, offset, is_committed_only=self._is_committed_only
                )
            except KafkaError as error:
                if error.code == ErrorCode.OFFSET_OUT_OF_RANGE:
                    lost = f"{self._client.name}: offset {offset} has gone"
                    self._history.surprises.append(lost)
                    return
                await self._client.back_off()
                continue
            self._history.reads += [
                Read(self._client.name, self._partition, *record, self._is_committed_only)
                for record in fetched.records
            ]
            offset = fetched.next_offset
        self._client.close()


async def fetch(
    client: Client, partition: int, offset: int, *, is_committed_only: bool, wait_ms: int = _WAIT_MS
) -> Fetched:
    """Ask the leader for records from an offset on."""
    if client.epoch_of(partition) < 0:
        await client.find_leader(partition)
    wanted = FetchPartition(
        partition=partition,
        current_leader_epoch=client.epoch_of(partition),
        fetch_offset=offset,
        partition_max_bytes=_MAX_BYTES,
    )
    request = FetchRequest(
        max_wait_ms=wait_ms,
        min_bytes=1,
        isolation_level=int(is_committed_only),
        topics=[FetchTopic(topic=client.topic, partitions=[wanted])],
    )
    answer = await client.ask_leader(partition, request, FetchResponse, 11)
    require(answer.error_code)
    if not answer.responses:  # it has read more than it may
        raise KafkaError(ErrorCode.THROTTLING_QUOTA_EXCEEDED)
    ((result,),) = (topic.partitions for topic in answer.responses)
    require(result.error_code)
    fetched = Fetched([], offset, result.high_watermark, result.last_stable_offset)
    aborted = [(one.first_offset, one.producer_id) for one in result.aborted_transactions or ()]
    assert not isinstance(result.records, FileRange), "only a broker has files"
    _select(bytes(result.records or b""), sorted(aborted), fetched)
    return fetched


async def read_all(
    client: Client, partition: int, *, is_committed_only: bool
) -> list[tuple[int, str]]:
    """Everything up to the high watermark, which open transactions no longer hold back."""
    records: list[tuple[int, str]] = []
    offset = 0
    while True:
        try:
            fetched = await fetch(
                client, partition, offset, is_committed_only=is_committed_only, wait_ms=100
            )
        except KafkaError:
            await client.back_off()
            continue
        records += fetched.records
        offset = fetched.next_offset
        if offset >= fetched.high_watermark:
            return records


def _select(data: bytes, aborted: list[tuple[int, int]], fetched: Fetched) -> None:
    """Keep what is wanted: no markers, nothing of an aborted transaction, nothing twice."""
    start_offset = fetched.next_offset
    ignored: dict[int, None] = {}
    for position, header in iterate_headers(data):
        assert crc_is_valid(data, position, header.size), "a batch came with a wrong checksum"
        while aborted and aborted[0][0] <= header.last_offset:
            ignored[aborted.pop(0)[1]] = None
        if header.is_control:
            marker = read_end_marker(data, position)
            if marker is not None and not marker.is_commit:
                ignored.pop(header.producer_id, None)
        elif not (header.is_transactional and header.producer_id in ignored):
            records = read_records(data, position, limit_bytes=_BATCH_MAX_BYTES)
            fetched.records += [
                (record.offset, (record.value or b"").decode())
                for record in records
                if record.offset >= start_offset
            ]
        fetched.next_offset = max(fetched.next_offset, header.next_offset)
