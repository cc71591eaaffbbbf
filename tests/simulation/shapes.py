"""What a seed is played with: how many brokers, how they are set, and which faults they stand."""

from dataclasses import dataclass, field

_SYNCED_AFTER = "log.flush.interval.messages"


@dataclass(frozen=True, slots=True)
class Shape:
    """What a seed is played with."""

    broker_count: int = 1
    partition_count: int = 3
    in_sync_wanted: int = 2
    settings: dict[str, str] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    """Faults that this shape does not promise to stand."""
    parts: tuple[str, ...] | None = None
    """What is played beside the usual clients; None: the seed says."""

    @property
    def is_everything_synced(self) -> bool:
        """Whether no record is acknowledged that a power loss could take."""
        return self.settings.get(_SYNCED_AFTER) == "1"

    @property
    def replication_factor(self) -> int:
        """On how many brokers each partition is."""
        return min(self.broker_count, 3)

    @property
    def in_sync_min(self) -> int:
        """How many replicas must have what is acknowledged."""
        return min(self.in_sync_wanted, self.replication_factor)


# What a machine without power forgets, nobody may have heard of.
_EVERYTHING_SYNCED = {_SYNCED_AFTER: "1"}
# Without that, a broker that loses its power while it alone is in sync loses what it had
# acknowledged before, as with Kafka (KIP-966).
_POWER_LOSS = ("power loss", "power loss in a step")

ONE_BROKER = Shape(settings=_EVERYTHING_SYNCED)
SHAPES = {
    1: (ONE_BROKER,),
    3: (
        Shape(broker_count=3, without=_POWER_LOSS),
        Shape(broker_count=3, settings=_EVERYTHING_SYNCED),
    ),
    5: (
        Shape(broker_count=5, without=_POWER_LOSS),
        Shape(broker_count=5, settings=_EVERYTHING_SYNCED),
    ),
}
# Of ten seeds: one broker teaches little about replication, five cost more than three.
_BROKER_COUNTS = (3, 3, 1, 3, 3, 5, 3, 3, 1, 3)


def shape_of(seed: int, broker_count: int | None = None) -> Shape:
    """What a seed is played with: it says so itself, unless told."""
    if broker_count is None:
        broker_count = _BROKER_COUNTS[seed % len(_BROKER_COUNTS)]
    shapes = SHAPES[broker_count]
    return shapes[seed // len(_BROKER_COUNTS) % len(shapes)]
