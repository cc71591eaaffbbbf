"""What the logs of one log directory share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moldau.log.log import Log


@dataclass(slots=True)
class Shared:
    """Settings and services that do not differ from partition to partition."""

    producer_expiration_ms: int = 86_400_000
    # A random number in [0, limit), to spread the time-based rolls of many partitions.
    draw: Callable[[int], int] = lambda _limit: 0
    # Makes the recovery points durable: called before a log is cut below its own.
    save_recovery_points: Callable[[], None] = lambda: None
    # Has a log synced whose newest records may not be sent before that.
    sync_soon: "Callable[[Log], None]" = lambda _log: None
