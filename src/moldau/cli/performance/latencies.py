"""How long records took, counted as Apache's producer performance tool counts."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from moldau.cli.terminal.progress import Bar

_SAMPLES_MAX = 500_000
_MEBIBYTE = 1024 * 1024


@dataclass(slots=True)
class LatencyReport:
    """Counts records, and prints a line for each window of time and one at the end."""

    record_count: int
    window_s: float = 5.0
    now_s: Callable[[], float] = time.monotonic
    bar: Bar | None = None
    count: int = 0
    size_bytes: int = 0
    samples_ms: list[int] = field(default_factory=list)
    _start_s: float = 0.0
    _window: "list[int]" = field(default_factory=list)
    _window_start_s: float = 0.0
    _window_bytes: int = 0
    _total_ms: int = 0
    _max_ms: int = 0

    def __post_init__(self) -> None:
        self._start_s = self._window_start_s = self.now_s()

    def record(self, latency_ms: int, size_bytes: int) -> None:
        """Note a record that was stored."""
        if self.count % max(self.record_count // _SAMPLES_MAX, 1) == 0:
            self.samples_ms.append(latency_ms)
        self.count += 1
        self.size_bytes += size_bytes
        self._total_ms += latency_ms
        self._max_ms = max(self._max_ms, latency_ms)
        self._window.append(latency_ms)
        self._window_bytes += size_bytes
        if self.bar is not None:
            self.bar.advance(1)
        if self.now_s() - self._window_start_s >= self.window_s:
            self._print_window()

    def total(self) -> str:
        """The line at the end."""
        elapsed_s = max(self.now_s() - self._start_s, 0.001)
        fifty, ninety_five, ninety_nine, last = self._percentiles(0.5, 0.95, 0.99, 0.999)
        average_ms = self._total_ms / max(self.count, 1)
        return (
            f"{self.count} records sent, {self.count / elapsed_s:f} records/sec "
            f"({self.size_bytes / elapsed_s / _MEBIBYTE:.2f} MB/sec), "
            f"{average_ms:.2f} ms avg latency, {self._max_ms:.2f} ms max latency, "
            f"{fifty} ms 50th, {ninety_five} ms 95th, {ninety_nine} ms 99th, {last} ms 99.9th."
        )

    def _print_window(self) -> None:
        elapsed_s = self.now_s() - self._window_start_s
        count = len(self._window)
        if self.bar is not None:
            self.bar.clear()
        print(
            f"{count} records sent, {count / elapsed_s:.1f} records/sec "
            f"({self._window_bytes / elapsed_s / _MEBIBYTE:.2f} MB/sec), "
            f"{sum(self._window) / count:.1f} ms avg latency, "
            f"{max(self._window):.1f} ms max latency.",
            flush=True,
        )
        self._window.clear()
        self._window_bytes = 0
        self._window_start_s = self.now_s()

    def _percentiles(self, *shares: float) -> list[int]:
        ordered = sorted(self.samples_ms) or [0]
        return [ordered[min(int(share * len(ordered)), len(ordered) - 1)] for share in shares]
