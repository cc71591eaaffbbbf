"""Where partitions are read from at first: as the group committed, else as the policy says."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

from moldau.client.consumer.assignment import Assigned, Assignment
from moldau.client.consumer.fetch_session import ReadPosition
from moldau.client.offset_lookup import EARLIEST, LATEST, OffsetLookup
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition

_RESET_TIMES = {"earliest": EARLIEST, "latest": LATEST}

FetchCommitted = Callable[[Iterable[TopicPartition]], Awaitable[dict[TopicPartition, ReadPosition]]]


class Positioning:
    """Gives positions to partitions that have none."""

    def __init__(self, offsets: OffsetLookup, assignment: Assignment, policy: str) -> None:
        self._offsets = offsets
        self._assignment = assignment
        self._policy = policy
        self.fetch_committed: FetchCommitted | None = None
        """How far the group is; without a group nothing is committed."""
        self.when_found: Callable[[], None] = lambda: None

    async def locate(self, unknown: Sequence[Assigned]) -> None:
        """Find positions; OffsetOutOfRange if the policy is not to look for any.

        What another try could be worth is raised too, once the others have their positions.
        """
        versions = {each.partition: each.version for each in unknown}
        if self.fetch_committed is not None:
            usable = [each.partition for each in unknown if not each.wants_reset]
            self._go_on(await self.fetch_committed(usable), versions)
        to_reset = [each.partition for each in unknown if each.position is None]
        if not to_reset:
            return
        if self._policy not in _RESET_TIMES:
            names = ", ".join(map(str, to_reset))
            reason = f"no offset to begin with for {names}, and auto.offset.reset is none"
            raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE, reason)
        times = dict.fromkeys(to_reset, _RESET_TIMES[self._policy])
        found, failure = await self._offsets.find_some(times)
        places = {partition: ReadPosition(each.offset) for partition, each in found.items()}
        self._go_on(places, versions)
        if failure is not None:  # of some, for which the others need not wait
            raise failure

    def _go_on(
        self, places: Mapping[TopicPartition, ReadPosition], versions: Mapping[TopicPartition, int]
    ) -> None:
        """Begin at these places, unless the user wants something else by now."""
        for partition, place in places.items():
            assigned = self._assignment.get(partition, versions[partition])
            if assigned is not None:
                assigned.seek(*place)
        self.when_found()
