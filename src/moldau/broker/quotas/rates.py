"""How much of something is used per second, and how long to wait once it is too much.

The rules are Kafka's, to the millisecond, since clients and dashboards know them: time is divided
into samples of a second; a rate is the sum of the samples that are kept over the time since the
oldest of them began, and that is taken to be ten full samples at least. So what has been silent may
use ten seconds' worth at once.

This file runs as it stands and is also compiled as `_rates`, with the types of `_rates.pxd`.
"""

from typing import NamedTuple


class Windows(NamedTuple):
    """Over how much time a rate is taken."""

    samples: int = 11
    """How many are kept, with the one that runs."""
    size_ms: int = 1_000


class PastSample(NamedTuple):
    """A span of time that is over."""

    began_ms: int
    last_ms: int
    """When something was recorded last."""
    value: float


class SampledRate:
    """What was recorded lately, in samples; the last of them runs."""

    __slots__ = (
        "_began_ms", "_first_began_ms", "_first_last_ms", "_kept_ms", "_last_ms", "_over",
        "_over_value", "_size_ms", "_value",
    )  # fmt: skip

    def __init__(self, windows: Windows) -> None:
        self._size_ms = windows.size_ms
        self._kept_ms = windows.samples * windows.size_ms
        self._over: list[PastSample] = []
        self._over_value = 0.0
        # Of the first of those that are over: every request asks.
        self._first_began_ms = self._first_last_ms = 0
        self._began_ms = self._last_ms = -self._kept_ms
        self._value = 0.0

    def record(self, value: float, now_ms: int) -> None:
        """So much was used; less than nothing takes back what was recorded."""
        if now_ms - self._began_ms >= self._size_ms:
            if now_ms - self._last_ms < self._kept_ms:
                if not self._over:
                    self._first_began_ms, self._first_last_ms = self._began_ms, self._last_ms
                self._over.append(PastSample(self._began_ms, self._last_ms, self._value))
                self._over_value += self._value
            self._began_ms = now_ms
            self._value = 0.0
        self._value += value
        self._last_ms = now_ms

    def span_ms(self, now_ms: int) -> int:
        """The time that the rate is taken over."""
        oldest_ms = self._drop_old(now_ms)
        elapsed_ms = now_ms - oldest_ms
        missing_ms = self._kept_ms - self._size_ms - elapsed_ms // self._size_ms * self._size_ms
        if missing_ms > 0:
            elapsed_ms += missing_ms
        return elapsed_ms if elapsed_ms > 0 else 1

    def per_second(self, now_ms: int) -> float:
        """The rate."""
        span_ms = self.span_ms(now_ms)
        return (self._over_value + self._value) * 1000 / span_ms

    def wait_ms(self, quota: float, now_ms: int) -> int:
        """After how long the rate would be the quota if nothing more came; 0 if it is not above."""
        span_ms = self.span_ms(now_ms)
        rate = (self._over_value + self._value) * 1000 / span_ms
        if rate <= quota:
            return 0
        return int((rate - quota) / quota * span_ms + 0.5)

    def _drop_old(self, now_ms: int) -> int:
        """Forget the samples that are too old; when the oldest of the others began."""
        over = self._over
        if over and now_ms - self._first_last_ms >= self._kept_ms:
            while over and now_ms - over[0].last_ms >= self._kept_ms:
                del over[0]
            if over:
                self._first_began_ms, self._first_last_ms = over[0].began_ms, over[0].last_ms
            # Added up anew: what is only added and taken away drifts.
            self._over_value = sum([sample.value for sample in over])
        if now_ms - self._last_ms >= self._kept_ms:
            self._began_ms = self._last_ms = now_ms
            self._value = 0.0
        return self._first_began_ms if over else self._began_ms


class Sensor:
    """The use of one user, one client, or one client of a user, and what it may be."""

    __slots__ = ("last_throttle_ms", "last_throttled_ms", "quota", "rate", "used_ms")

    def __init__(self, quota: float, windows: Windows, now_ms: int) -> None:
        self.quota = quota
        self.rate = SampledRate(windows)
        self.used_ms = now_ms
        self.last_throttle_ms = 0
        self.last_throttled_ms = now_ms

    def record(self, value: float, now_ms: int) -> int:
        """So much was used; for how many milliseconds the client is to wait."""
        self.used_ms = now_ms
        self.rate.record(value, now_ms)
        throttle_ms = self.rate.wait_ms(self.quota, now_ms)
        if throttle_ms > 0:
            self.last_throttle_ms = throttle_ms
            self.last_throttled_ms = now_ms
        return throttle_ms

    def take_back(self, value: float, now_ms: int) -> None:
        """It was not used after all."""
        self.rate.record(-value, now_ms)
