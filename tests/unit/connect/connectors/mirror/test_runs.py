"""Offsets of the source are translated: never too far, and not further back than need be."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from moldau.connect.connector import PlacedRows
from moldau.connect.connectors.mirror.layouts import OffsetSync
from moldau.connect.connectors.mirror.runs import (
    BEGINNING,
    RUNS_MAX,
    CopiedRun,
    OffsetMap,
    SyncChoice,
    runs_of,
)
from moldau.model import TopicPartition

PLACE = TopicPartition("t", 0)


def known(*runs: CopiedRun) -> OffsetMap:
    found = OffsetMap()
    for each in runs:
        found.add(each.sync(PLACE))
    return found


def test_rows_that_follow_each_other_in_both_are_one_run() -> None:
    whole = list(runs_of(range(100, 110), [PlacedRows(0, 4, 7), PlacedRows(4, 6, 11)]))
    assert whole == [CopiedRun(100, 7, 10)]


def test_a_gap_in_either_begins_another_run() -> None:
    gaps = list(runs_of([1, 2, 5, 6, 9], [PlacedRows(0, 4, 10), PlacedRows(4, 1, 20)]))
    assert gaps == [CopiedRun(1, 10, 2), CopiedRun(5, 12, 2), CopiedRun(9, 20, 1)]
    left_out = list(runs_of([1, 2, 3, 4], [PlacedRows(0, 1, 10), PlacedRows(2, 2, 11)]))
    assert left_out == [CopiedRun(1, 10, 1), CopiedRun(3, 11, 2)]
    assert list(runs_of([], [])) == []


def test_a_sync_has_the_last_record_and_how_many_come_before_it() -> None:
    assert CopiedRun(100, 7, 10).sync(PLACE) == OffsetSync(PLACE, 109, 16, 10)


def test_the_last_run_is_always_written_and_others_so_far_apart() -> None:
    runs = [CopiedRun(number * 2, number, 1) for number in range(10)]
    assert list(SyncChoice(0).chosen(runs)) == runs
    assert list(SyncChoice(3).chosen(runs)) == [runs[3], runs[7], runs[9]]
    assert list(SyncChoice(100).chosen(runs)) == [runs[9]]
    assert list(SyncChoice(100).chosen([])) == []


def test_offsets_within_a_run_are_exact_and_behind_it_not_too_far() -> None:
    found = known(CopiedRun(10, 100, 5), CopiedRun(20, 106, 2))
    translated = {offset: found.translated(offset) for offset in (9, 10, 12, 15, 17, 20, 22, 99)}
    assert translated == {9: 0, 10: 100, 12: 102, 15: 105, 17: 105, 20: 106, 22: 108, 99: 108}


def test_before_all_that_is_known_is_the_beginning_and_nothing_is_known_without_runs() -> None:
    assert known(CopiedRun(10, 100, 5)).translated(3) == BEGINNING
    assert known().translated(3) is None


def test_syncs_of_mirror_maker_are_of_one_record() -> None:
    found = known()
    found.add(OffsetSync(PLACE, 19, 19))
    assert [found.translated(each) for each in (18, 19, 20, 50)] == [0, 19, 20, 20]


def test_what_was_made_anew_makes_earlier_syncs_untrue() -> None:
    source_anew = known(CopiedRun(10, 100, 5), CopiedRun(2, 105, 3))
    assert [source_anew.translated(each) for each in (1, 5, 12)] == [0, 108, 108]
    target_anew = known(CopiedRun(10, 100, 5), CopiedRun(15, 0, 3))
    assert [target_anew.translated(each) for each in (12, 15, 18)] == [0, 0, 3]


def test_of_very_many_runs_old_ones_are_forgotten_and_none_is_passed_over() -> None:
    runs = [CopiedRun(10 * number, 11 * number, 10) for number in range(5 * RUNS_MAX)]
    found = known(*runs)
    assert len(found) <= RUNS_MAX
    for number, run in enumerate(runs):
        translated = found.translated(run.source + 3)
        assert translated is not None
        assert translated <= run.target + 3
        if number >= len(runs) - RUNS_MAX // 2:
            assert translated == run.target + 3
    assert found.translated(3) == 3, "the first one stays: nobody goes back to the beginning"


def test_a_sync_that_comes_twice_changes_nothing() -> None:
    found = known(CopiedRun(10, 100, 5), CopiedRun(20, 106, 2), CopiedRun(20, 106, 2))
    assert found.translated(12) == 102


@st.composite
def mirrored(draw: st.DrawFn) -> tuple[list[int], list[list[tuple[int, int]]], int]:
    """Offsets in the source, transactions of pairs of offsets, and the distance of syncs."""
    source, target = 0, 0
    transactions, offsets = [], []
    for size in draw(st.lists(st.integers(1, 8), max_size=5)):
        pairs = []
        for _ in range(size):
            source += draw(st.sampled_from([0, 0, 0, 1, 3]))
            target += draw(st.sampled_from([0, 0, 0, 0, 2]))
            pairs.append((source, target))
            offsets.append(source)
            source += 1
            target += 1
        target += 1  # the marker
        transactions.append(pairs)
    return offsets, transactions, draw(st.sampled_from([0, 2, 100]))


@given(mirrored())
def test_no_record_is_passed_over_and_few_come_again(
    case: tuple[list[int], list[list[tuple[int, int]]], int],
) -> None:
    _, transactions, apart = case
    found, places = OffsetMap(), dict[int, int]()
    for pairs in transactions:
        rows = [PlacedRows(row, 1, target) for row, (_, target) in enumerate(pairs)]
        sources: Sequence[int] = [source for source, _ in pairs]
        for run in SyncChoice(apart).chosen(runs_of(sources, rows)):
            found.add(run.sync(PLACE))
        places |= dict(pairs)
    for offset in range(max(places, default=0) + 5):
        translated = found.translated(offset)
        unread = [target for source, target in places.items() if source >= offset]
        if translated is None:
            continue
        assert all(target >= translated for target in unread), "none is passed over"
        again = [t for s, t in places.items() if s < offset and t >= translated]
        assert len(again) <= apart
    if places:
        end = max(places) + 1
        assert found.translated(end) == places[end - 1] + 1, "exact at the end"
