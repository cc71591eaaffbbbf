"""How long to wait before a process is started again."""

from moldau.supervisor.backing_off import BackingOff


def test_who_ends_early_again_and_again_waits_longer_up_to_a_limit() -> None:
    backing_off = BackingOff()
    waits = [backing_off.after(1) for _ in range(10)]
    assert waits[:3] == [0.2, 0.4, 0.8]
    assert waits[-1] == 30


def test_who_has_run_for_long_begins_anew() -> None:
    backing_off = BackingOff()
    for _ in range(5):
        backing_off.after(1)
    assert backing_off.after(60) == 0.2
    assert backing_off.after(59) == 0.4
