"""What processes hold, and whether it grows."""

import os
import re
import statistics
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

_WARM_SHARE = 0.4
_GROWTH_SHARE, _GROWTH_LEAST = 0.05, 8.0


@dataclass(slots=True)
class Series:
    """One figure over time."""

    points: list[tuple[float, float]] = field(default_factory=list)

    def add(self, at_s: float, value: float) -> None:
        self.points.append((at_s, value))

    def thirds(self) -> tuple[float, float]:
        """Medians of the first and the last third, after warming up."""
        values = [value for _, value in self._warm()]
        size = max(1, len(values) // 3)
        return statistics.median(values[:size]), statistics.median(values[-size:])

    def is_flat(self) -> bool:
        early, late = self.thirds()
        return late - early <= max(_GROWTH_LEAST, early * _GROWTH_SHARE)

    def slope_per_hour(self) -> float:
        """Of the line that is nearest to all points after warming up."""
        times, values = zip(*self._warm(), strict=True)
        if len(times) < 2:
            return 0.0
        return statistics.linear_regression(times, values).slope * 3600

    def _warm(self) -> list[tuple[float, float]]:
        since_s = self.points[-1][0] * _WARM_SHARE
        return [each for each in self.points if each[0] >= since_s]


def memory_mb(processes: Sequence[int]) -> float:
    """Resident memory; what several share counts once (Pss)."""
    kilobytes = 0
    for each in processes:
        found = re.search(r"^Pss: +(\d+)", _read(f"/proc/{each}/smaps_rollup"), re.MULTILINE)
        kilobytes += 0 if found is None else int(found[1])
    return kilobytes / 1024


def open_files(processes: Sequence[int]) -> int:
    """Descriptors of all of them."""
    found = 0
    for each in processes:
        try:
            found += sum(1 for _ in Path(f"/proc/{each}/fd").iterdir())
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended meanwhile
    return found


def descendants(process: int) -> list[int]:
    """All that come from a process."""
    found: list[int] = []
    try:
        tasks = list(Path(f"/proc/{process}/task").iterdir())
    except (FileNotFoundError, ProcessLookupError):
        return found  # it has ended meanwhile
    for task in tasks:
        for child in map(int, _read(f"{task}/children").split()):
            found += [child, *descendants(child)]
    return found


def is_java(process: int) -> bool:
    return _read(f"/proc/{process}/comm").strip() == "java"


def heap_after_collection_mb(process: int) -> float:
    """What the heap of a JVM holds when all that is garbage has gone."""
    _jcmd(process, "GC.run")
    found = re.findall(r"used (\d+)K", _jcmd(process, "GC.heap_info"))
    return int(found[0]) / 1024 if found else 0.0


def directory_mb(directory: Path) -> tuple[float, int]:
    """The size of a directory's files, and how many there are."""
    size = count = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            try:
                size += Path(folder, name).stat().st_size
                count += 1
            except FileNotFoundError:
                continue  # it has been deleted meanwhile
    return size / 2**20, count


def _jcmd(process: int, command: str) -> str:
    return subprocess.run(
        ["jcmd", str(process), command], capture_output=True, text=True, check=False
    ).stdout


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""  # it has ended meanwhile
