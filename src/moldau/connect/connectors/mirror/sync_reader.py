"""Follows the topic of offset syncs, its own or MirrorMaker's."""

import logging
from collections.abc import Mapping

from moldau.client.blocking.consumer import Consumer
from moldau.connect.connectors.mirror.layouts import OffsetSync
from moldau.connect.connectors.mirror.runs import OffsetMap
from moldau.errors import ProtocolError, UnknownTopicOrPartition
from moldau.model import TopicPartition

_log = logging.getLogger(__name__)

_POLL_S = 0.2


class SyncReader:
    """Knows what offsets of the source are at the target, as of the last reading."""

    def __init__(self, client: Mapping[str, object], topic: str) -> None:
        self._place = TopicPartition(topic, 0)
        self._consumer: Consumer[bytes, bytes] = Consumer(client)
        self._maps: dict[TopicPartition, OffsetMap] = {}
        self._is_assigned = False

    def read_on(self) -> None:
        """Take in everything that is there now; the topic may not be there yet."""
        place, consumer = self._place, self._consumer
        try:
            if not self._is_assigned:
                consumer.partitions_of(place.topic)
                consumer.assign(consumer.beginning_offsets([place]))
                self._is_assigned = True
            end = consumer.end_offsets([place])[place]
        except UnknownTopicOrPartition:
            return
        while consumer.position(place) < end:
            for record in consumer.poll(_POLL_S):
                self._take(record.key, record.value, tuple(record.headers))

    def _take(
        self,
        key: bytes | None,
        value: bytes | None,
        headers: tuple[tuple[str, bytes | None], ...],
    ) -> None:
        if key is None or value is None:
            return
        try:
            sync = OffsetSync.decoded(key, value, headers)
        except ProtocolError as error:
            _log.warning("a record of %s is no offset sync: %s", self._place, error)
            return
        self._maps.setdefault(sync.partition, OffsetMap()).add(sync)

    def translated(self, place: TopicPartition, offset: int) -> int | None:
        """Where a group goes on that goes on at this offset in the source; None if unknown."""
        found = self._maps.get(place)
        return None if found is None else found.translated(offset)

    def close(self) -> None:
        """Hang up."""
        self._consumer.close()
