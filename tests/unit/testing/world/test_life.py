"""Lives: who a callback belongs to."""

from contextvars import copy_context

from moldau.testing.world.life import CURRENT, NOBODY, Life, State


def test_a_life_runs_until_it_ends() -> None:
    life = Life("machine")
    assert not life.is_over
    life.state = State.PAUSED
    assert not life.is_over
    life.state = State.ENDED
    assert life.is_over


def test_a_context_has_a_life_of_its_own() -> None:
    life = Life("machine")
    context = copy_context()
    context.run(CURRENT.set, life)
    assert context.run(CURRENT.get) is life
    assert CURRENT.get() is NOBODY
