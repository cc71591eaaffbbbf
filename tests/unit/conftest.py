"""What a module of tests leaves behind it: the same threads, descriptors and collector."""

import gc
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

# The folders in which every module has been looked through; others are to follow.
LOOKED_AT = (
    "tests/unit/controller/",
    "tests/unit/coordination/",
    "tests/unit/metadata/",
    "tests/unit/net/",
    "tests/unit/replication/",
    "tests/unit/runtime/",
    "tests/unit/security/",
)
_DESCRIPTORS = "/proc/self/fd"


@dataclass(frozen=True, slots=True)
class Held:
    """What this process holds."""

    threads: frozenset[threading.Thread]
    descriptors: frozenset[str]
    thresholds: tuple[int, int, int]

    @classmethod
    def now(cls) -> "Held":
        return cls(frozenset(threading.enumerate()), _descriptors(), gc.get_threshold())

    def since(self, before: "Held") -> list[str]:
        """What is there and was not before."""
        found = [f"thread {one.name}" for one in self.threads - before.threads if one.is_alive()]
        found += [f"descriptor {one}" for one in sorted(self.descriptors - before.descriptors)]
        if self.thresholds != before.thresholds:
            found.append(f"thresholds {self.thresholds} of the collector")
        return found


def _descriptors() -> frozenset[str]:
    """Each open descriptor with what it stands for; none where there is no such folder."""
    found = set()
    for name in os.listdir(_DESCRIPTORS) if os.path.isdir(_DESCRIPTORS) else ():
        try:
            found.add(f"{name} {os.readlink(f'{_DESCRIPTORS}/{name}')}")
        except FileNotFoundError:  # the one that listed the folder
            continue
    return frozenset(found)


@pytest.fixture(scope="module", autouse=True)
def nothing_is_left_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    """Looked at once for a module: for each test it would be a collection for each test."""
    before = Held.now()
    yield
    if request.node.nodeid.startswith(LOOKED_AT) and Held.now().since(before):
        gc.collect()  # closes what only a cycle still holds
        left = Held.now().since(before)
        assert not left, f"left behind: {', '.join(left)}"
