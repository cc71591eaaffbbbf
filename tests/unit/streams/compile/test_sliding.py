"""Sliding windows of one key, by hand."""

from moldau.streams.compile.sliding import Sample, Span, aggregate, changed, spans
from moldau.streams.functions import Folding

A, B, C = Sample(100, "a"), Sample(103, "b"), Sample(109, "c")


def test_windows_end_with_a_record_or_begin_after_one() -> None:
    assert spans([A, B, C], 5) == {
        95: Span(95, 100, (A,)),
        98: Span(98, 103, (A, B)),
        101: Span(101, 106, (B,)),
        104: Span(104, 109, (C,)),
    }


def test_both_ends_are_within() -> None:
    later = Sample(105, "d")
    assert spans([A, later], 5)[100] == Span(100, 105, (A, later))


def test_no_window_begins_before_time_begins() -> None:
    early = Sample(2, "e")
    assert spans([early], 5) == {0: Span(0, 5, (early,))}


def test_only_what_has_changed_is_given() -> None:
    found = changed(spans([A], 5), spans([A, B], 5))
    assert [span.start_ms for span in found] == [98, 101]


def test_records_are_folded_as_they_came() -> None:
    joined = Folding(lambda _key, value, so_far: f"{so_far}{value}")
    assert aggregate(joined, "key", [B, A]) == "ba"
    counted = Folding(lambda *_: 1, initial=int)
    assert aggregate(counted, "key", []) == 0
