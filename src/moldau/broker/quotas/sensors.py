"""What was used lately, for each that has a quota: made on first use, forgotten after an hour."""

from collections.abc import Callable, Iterator
from typing import Generic, Protocol, TypeVar

from moldau.broker.quotas.precedence import HeldQuota, Holder, Name

IDLE_MS = 3_600_000
SENSORS_MAX = 10_000
"""Clients choose their ids: there may be a new one in every request."""
# When all places are taken, those leave that were not used for longest: a part of them at once,
# or every newcomer would look for one.
_LEAVING = SENSORS_MAX // 10
_SWEEP_MS = 60_000
# A client id may have 32,767 bytes. Longer ones that begin alike share a sensor.
_NAME_MAX = 255


class Measuring(Protocol):
    """What a sensor has, whatever it measures."""

    quota: float
    used_ms: int
    last_throttle_ms: int
    last_throttled_ms: int


Kept = TypeVar("Kept", bound=Measuring)


class Sensors(Generic[Kept]):
    """The sensors of one type of quota."""

    def __init__(self, make: Callable[[float, int], Kept], forgot: Callable[[], None]) -> None:
        """`make` makes one for a quota at a time; `forgot` is called when some were forgotten."""
        self._make = make
        self._forgot = forgot
        self._kept: dict[Holder, Kept] = {}
        self._swept_ms = 0

    def __len__(self) -> int:
        return len(self._kept)

    def of(self, held: HeldQuota, now_ms: int) -> Kept:
        """The sensor of a holder; what was recorded stays when its quota changes."""
        user, client_id = held.holder
        holder = (_short(user), _short(client_id))
        sensor = self._kept.get(holder)
        if sensor is None:
            self._make_room(now_ms)
            sensor = self._kept[holder] = self._make(held.quota, now_ms)
        sensor.quota = held.quota
        sensor.used_ms = now_ms
        return sensor

    def used(self, now_ms: int) -> Iterator[tuple[Holder, Kept]]:
        """Those that are not to be forgotten, the newest first."""
        for holder, sensor in reversed(tuple(self._kept.items())):
            if now_ms - sensor.used_ms < IDLE_MS:
                yield holder, sensor

    def _make_room(self, now_ms: int) -> None:
        is_full = len(self._kept) >= SENSORS_MAX
        if not is_full and now_ms - self._swept_ms < _SWEEP_MS:
            return
        self._swept_ms = now_ms
        leaving = [
            holder for holder, sensor in self._kept.items() if now_ms - sensor.used_ms >= IDLE_MS
        ]
        if is_full and not leaving:
            by_use = sorted(self._kept, key=lambda holder: self._kept[holder].used_ms)
            leaving = by_use[:_LEAVING]
        for holder in leaving:
            del self._kept[holder]
        if leaving:
            self._forgot()


def _short(name: Name) -> Name:
    return name[:_NAME_MAX] if isinstance(name, str) else name
