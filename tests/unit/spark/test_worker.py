"""A worker settles once."""

import gc
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
