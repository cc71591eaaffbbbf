"""The coordinator's word about a transaction holds for that transaction alone."""

from moldau.log.verification import Verifications


def test_a_question_asked_again_keeps_its_guard() -> None:
    table = Verifications()
    guard = table.begin(1, sequence=5, epoch=0, now_ms=0)

    assert table.begin(1, sequence=3, epoch=0, now_ms=1) is guard
    assert table.holds(1, guard)
    assert table.lowest_sequence(1) == 3


def test_a_new_epoch_begins_its_own_sequences() -> None:
    table = Verifications()
    table.begin(1, sequence=3, epoch=0, now_ms=0)
    table.begin(1, sequence=9, epoch=1, now_ms=0)
    assert table.lowest_sequence(1) == 9

    table.begin(1, sequence=0, epoch=0, now_ms=0)

    assert table.lowest_sequence(1) == 9


def test_no_guard_holds_where_none_was_given() -> None:
    table = Verifications()
    guard = table.begin(1, sequence=0, epoch=0, now_ms=0)

    assert not table.holds(1, None)
    assert not table.holds(2, None)
    assert not table.holds(2, guard)
    assert table.lowest_sequence(2) is None


def test_a_cleared_guard_never_holds_again() -> None:
    table = Verifications()
    guard = table.begin(1, sequence=0, epoch=0, now_ms=0)

    table.clear(1)
    table.clear(1)
    again = table.begin(1, sequence=0, epoch=0, now_ms=0)

    assert again is not guard
    assert not table.holds(1, guard)


def test_questions_without_an_answer_expire() -> None:
    table = Verifications()
    old = table.begin(1, sequence=0, epoch=0, now_ms=0)
    new = table.begin(2, sequence=0, epoch=0, now_ms=5)

    table.expire(now_ms=10, expiration_ms=10)

    assert not table.holds(1, old)
    assert table.holds(2, new)
