"""What Spark reports of each micro-batch is added up."""

from types import SimpleNamespace

from moldau.streams.run.late_rows import LateRows


def event(name: str | None, *dropped: int) -> SimpleNamespace:
    operators = [SimpleNamespace(numRowsDroppedByWatermark=each) for each in dropped]
    return SimpleNamespace(progress=SimpleNamespace(name=name, stateOperators=operators))


def test_dropped_rows_are_added_up_by_query() -> None:
    late = LateRows()
    for each in (event("a", 1, 2), event("b", 5), event("a", 4), event(None, 9), event("c")):
        late.onQueryProgress(each)  # type: ignore[arg-type]
    assert [late.of(name) for name in "abcd"] == [7, 5, 0, 0]
