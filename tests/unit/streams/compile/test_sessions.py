"""Sessions of one key, by hand."""

from moldau.streams.compile.sessions import OpenSessions, Session
from moldau.streams.functions import Folding

JOINED = Folding(
    lambda _key, value, so_far: f"{so_far}{value}",
    initial=str,
    merge=lambda _key, one, other: f"{one}|{other}",
)
LAST = Folding(lambda _key, value, _so_far: value, merge=lambda _key, _one, other: other)


def sessions(*records: tuple[str, int], folding: Folding = JOINED) -> OpenSessions:
    made = OpenSessions("key", folding, gap_ms=10)
    for value, millis in records:
        made.add(value, millis)
    return made


def test_records_within_the_gap_are_one_session() -> None:
    assert sessions(("a", 0), ("b", 10)).open == [Session(0, 10, "ab", 10)]


def test_a_record_after_the_gap_begins_another() -> None:
    assert sessions(("a", 0), ("b", 11)).open == [Session(0, 0, "a", 0), Session(11, 11, "b", 11)]


def test_a_record_between_two_sessions_joins_them() -> None:
    assert sessions(("a", 0), ("b", 20), ("c", 10)).open == [Session(0, 20, "a|bc", 20)]


def test_an_early_record_makes_a_session_begin_earlier() -> None:
    assert sessions(("a", 20), ("b", 12)).open == [Session(12, 20, "ab", 20)]


def test_without_an_initial_value_the_first_record_is_the_aggregate() -> None:
    assert sessions(("a", 0), ("b", 5), folding=LAST).open == [Session(0, 5, "b", 5)]


def test_sessions_close_by_their_last_record() -> None:
    made = sessions(("c", 50), ("a", 0), ("b", 20))
    assert made.close(20) == [Session(0, 0, "a", 0), Session(20, 20, "b", 20)]
    assert made.open == [Session(50, 50, "c", 50)]


def test_an_old_record_is_not_late_if_it_joins_a_session_that_is_open() -> None:
    made = sessions(("a", 100), ("a", 110))
    assert not made.is_late(95, oldest_ms=105)
    assert not made.is_late(105, oldest_ms=105)
    assert made.is_late(89, oldest_ms=105)
    # The session that it would join has closed as well.
    assert made.is_late(95, oldest_ms=111)
