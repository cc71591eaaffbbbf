"""Whose collector it is."""

import gc
from collections.abc import Iterator

import pytest

from moldau.runtime.garbage import THRESHOLDS, keep_loaded, owned_collector


@pytest.fixture(autouse=True)
def _the_collector_is_left_alone() -> Iterator[None]:
    before = gc.isenabled(), gc.get_threshold(), gc.get_freeze_count()
    yield
    assert (gc.isenabled(), gc.get_threshold(), gc.get_freeze_count()) == before


def test_nothing_is_collected_during_the_start_and_seldom_afterwards() -> None:
    with owned_collector() as started:
        assert not gc.isenabled()
        started()
        assert gc.isenabled()
        assert gc.get_threshold() == THRESHOLDS
        assert gc.get_freeze_count() > 0


def test_a_start_that_fails_gives_it_back() -> None:
    with pytest.raises(OSError, match="no such host"), owned_collector():
        raise OSError("no such host")
    assert gc.isenabled()


def test_what_is_loaded_is_kept_in_a_process_of_ones_own() -> None:
    with owned_collector():
        keep_loaded()
        assert gc.get_freeze_count() > 0


def test_a_guest_keeps_nothing() -> None:
    keep_loaded()
    assert gc.get_freeze_count() == 0
