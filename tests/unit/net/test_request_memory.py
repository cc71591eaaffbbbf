"""Memory for large requests: given as long as any is left, and in turn."""

from dataclasses import dataclass, field

from moldau.net.request_memory import RequestMemory


@dataclass(eq=False)
class Receiver:
    calls: list[int] = field(default_factory=list)

    def turn(self) -> None:
        self.calls.append(1)


def test_whoever_comes_while_some_is_left_gets_all_and_the_next_one_waits() -> None:
    memory = RequestMemory(100)
    first, second, third = Receiver(), Receiver(), Receiver()
    assert memory.take(first, 99)
    assert memory.take(second, 1_000)
    assert not memory.take(third, 1)
    memory.give_back(99)
    assert third.calls == []
    memory.give_back(1_000)
    assert third.calls == [1]
    assert memory.take(third, 1)


def test_one_that_has_gone_is_not_called() -> None:
    memory = RequestMemory(1)
    gone = Receiver()
    assert memory.take(Receiver(), 5)
    assert not memory.take(gone, 5)
    memory.forget(gone)
    memory.give_back(5)
    assert gone.calls == []
