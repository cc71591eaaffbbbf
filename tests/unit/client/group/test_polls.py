"""Whether the user still polls."""

from moldau.client.group.polls import Polls


class Time:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now_ms = 0


def test_who_does_not_poll_is_overdue() -> None:
    time = Time()
    polls = Polls(10, lambda: time.now_ms)
    seen: list[bool] = []
    for time.now_ms in (10, 11):
        seen.append(polls.is_overdue)
    polls.note()
    seen.append(polls.is_overdue)
    assert seen == [False, True, False]


def test_who_waits_for_records_is_not() -> None:
    time = Time()
    polls = Polls(10, lambda: time.now_ms)
    polls.begin()
    time.now_ms = 100
    seen = [polls.is_overdue]
    polls.end()
    for time.now_ms in (110, 111):
        seen.append(polls.is_overdue)
    assert seen == [False, False, True]
