"""Counters start at nothing, each query with its own."""

from moldau.streams.compile.counters import Counters, PlainCounter


def test_each_query_counts_for_itself() -> None:
    one, other = Counters(), Counters()
    one.late_records.add(2)
    one.late_records.add(1)
    assert one.late_records == PlainCounter(3)
    assert other == Counters()
