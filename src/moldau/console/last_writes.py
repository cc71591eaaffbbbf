"""When topics were last written to: asked of brokers only where something has changed."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from moldau.client.admin.offsets import MAX_TIMESTAMP
from moldau.errors import KafkaError
from moldau.model import TopicPartition

if TYPE_CHECKING:
    from moldau.client.admin.admin import Admin

_PARTITIONS_AT_ONCE_MAX = 1000


class LastWrites:
    """The latest time of a record in each topic; brokers before Kafka 3.0 do not know it."""

    def __init__(self) -> None:
        self.times_ms: dict[str, int] = {}
        self._asked_at: dict[str, int] = {}

    async def update(
        self, admin: "Admin", ends: Mapping[str, int], partitions: Sequence[TopicPartition]
    ) -> None:
        """Ask for topics that have grown; `ends` is the sum of the ends of each."""
        for name in self.times_ms.keys() - ends.keys():
            del self.times_ms[name]
            self._asked_at.pop(name, None)
        wanted: list[TopicPartition] = []
        grown: set[str] = set()
        for each in partitions:
            end = ends.get(each.topic, 0)
            is_known = end == 0 or self._asked_at.get(each.topic) == end
            is_full = len(wanted) >= _PARTITIONS_AT_ONCE_MAX and each.topic not in grown
            if not is_known and not is_full:
                wanted.append(each)
                grown.add(each.topic)
        if not wanted:
            return
        try:
            found = await admin.list_offsets(dict.fromkeys(wanted, MAX_TIMESTAMP))
        except KafkaError:
            return
        for partition, at in found.succeeded.items():
            if at.timestamp >= 0:
                before = self.times_ms.get(partition.topic, -1)
                self.times_ms[partition.topic] = max(before, at.timestamp)
        failed = {each.topic for each in found.errors}
        self._asked_at |= {name: ends[name] for name in grown - failed}
