"""Deadlines come due in their order, however often they were moved."""

from hypothesis import given
from hypothesis import strategies as st

from moldau.coordinator.timers import Timers


def test_keys_come_due_in_the_order_of_their_deadlines() -> None:
    timers: Timers[str] = Timers()
    timers.set("b", 20)
    timers.set("a", 10)
    assert timers.next_deadline_ms() == 10
    assert timers.take_due(now_ms=9) == []
    assert timers.take_due(now_ms=20) == ["a", "b"]
    assert timers.next_deadline_ms() is None


def test_the_same_deadline_keeps_the_order_of_setting() -> None:
    timers: Timers[str] = Timers()
    for key in "zxy":
        timers.set(key, 5)
    assert timers.take_due(now_ms=5) == ["z", "x", "y"]


def test_a_key_has_one_deadline_the_last() -> None:
    timers: Timers[str] = Timers()
    timers.set("a", 10)
    timers.set("a", 30)
    assert timers.take_due(now_ms=29) == []
    timers.set("a", 5)
    assert timers.deadline_ms("a") == 5
    assert timers.take_due(now_ms=40) == ["a"]
    assert timers.take_due(now_ms=40) == []


def test_a_cancelled_key_is_not_due() -> None:
    timers: Timers[str] = Timers()
    timers.set("a", 10)
    timers.cancel("a")
    timers.cancel("never set")
    assert len(timers) == 0
    assert timers.next_deadline_ms() is None


operations = st.lists(
    st.tuples(st.sampled_from(["set", "cancel", "due"]), st.integers(0, 4), st.integers(0, 50))
)


@given(operations)
def test_it_agrees_with_a_plain_table(operations: list[tuple[str, int, int]]) -> None:
    timers: Timers[int] = Timers()
    table: dict[int, int] = {}
    for name, key, time_ms in operations:
        if name == "set":
            timers.set(key, time_ms)
            table[key] = time_ms
        elif name == "cancel":
            timers.cancel(key)
            table.pop(key, None)
        else:
            due = timers.take_due(now_ms=time_ms)
            expected = [each for each, at_ms in table.items() if at_ms <= time_ms]
            assert sorted(due) == sorted(expected)
            assert [table[each] for each in due] == sorted(table[each] for each in due)
            for each in due:
                del table[each]
        assert timers.next_deadline_ms() == min(table.values(), default=None)
        assert len(timers) == len(table)
