"""A worker settles once."""

import gc
import subprocess
import sys
from collections.abc import Iterator

import pytest

from moldau.spark import worker


@pytest.fixture(autouse=True)
def not_settled(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(worker, "_is_settled", False)
    yield
    gc.unfreeze()


def test_what_is_there_is_not_looked_at_again() -> None:
    gc.unfreeze()
    worker.settle()
    count = gc.get_freeze_count()
    assert count > 1000
    kept = [[each] for each in range(100)]
    worker.settle()
    assert gc.get_freeze_count() <= count
    assert len(kept) == 100


def test_freed_memory_is_used_again_instead_of_coming_anew() -> None:
    """In a process of its own, since what a C library keeps depends on all that it did before."""
    script = (
        "import resource, sys\n"
        "from moldau.spark.worker import settle\n"
        "if sys.argv[1] == 'keep': settle()\n"
        "def faults(): return resource.getrusage(resource.RUSAGE_SELF).ru_minflt\n"
        "for turn in range(20):\n"
        "    if turn == 10: before = faults()\n"
        "    buffers = [bytearray(b'x' * (8 << 20)) for _ in range(2)]\n"
        "    del buffers\n"
        "print(faults() - before)\n"
    )

    def faults(word: str) -> int:
        command = [sys.executable, "-c", script, word]
        return int(subprocess.run(command, capture_output=True, check=True, text=True).stdout)

    assert faults("keep") < faults("leave") / 10
