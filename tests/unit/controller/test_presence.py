"""Whether a process is gone: only what refuses for a while, having answered before, is."""

import pytest

from moldau.controller.presence import CALL_AGAIN_MS, CONFIRMED_MS, LOOK_AGAIN_MS, Presence, Sign

A, R, S = Sign.ANSWERED, Sign.REFUSED, Sign.SILENT


def after(*signs: Sign, each_ms: int = CALL_AGAIN_MS) -> Presence:
    """A broker that was called again and again."""
    presence = Presence()
    for number, sign in enumerate(signs):
        presence.note(sign, now_ms=number * each_ms)
    return presence


def test_a_broker_that_refuses_for_a_while_is_gone_and_not_a_moment_before() -> None:
    presence = Presence()
    assert not presence.note(A, now_ms=1_000)
    assert not presence.note(R, now_ms=2_000)
    assert not presence.note(R, now_ms=2_000 + CONFIRMED_MS - 1)
    was_gone = presence.is_gone
    assert presence.note(R, now_ms=2_000 + CONFIRMED_MS)
    assert (was_gone, presence.is_gone) == (False, True)
    assert not presence.note(R, now_ms=9_000)
    assert presence.is_gone


def test_a_broker_that_never_answered_may_not_listen_yet() -> None:
    assert not after(R, R, R, R, R, R, R, R).is_gone
    assert not after(S, R, R, R, R, R, R, R).is_gone


@pytest.mark.parametrize("otherwise", [A, S])
def test_what_else_it_does_meanwhile_begins_the_time_anew(otherwise: Sign) -> None:
    assert not after(A, R, R, R, otherwise, R, R, R).is_gone
    assert after(A, R, R, R, otherwise, R, R, R, R).is_gone


def test_silence_proves_nothing() -> None:
    assert not after(A, *[S] * 100).is_gone


def test_an_answer_brings_it_back_and_nothing_else_does() -> None:
    presence = after(A, R, R, R, R)
    assert presence.is_gone
    for number, sign in enumerate((S, R, S)):
        assert not presence.note(sign, now_ms=5_000 + number)
        assert presence.is_gone
    assert presence.note(A, now_ms=6_000)
    is_gone = presence.is_gone
    assert not presence.note(R, now_ms=6_100)
    assert (is_gone, presence.is_gone) == (False, False)


@pytest.mark.parametrize(
    ("signs", "wait_ms"),
    [
        ((A,), CALL_AGAIN_MS),
        ((A, R), CALL_AGAIN_MS),
        ((A, S), LOOK_AGAIN_MS),
        ((A, R, S), LOOK_AGAIN_MS),
        ((R,), LOOK_AGAIN_MS),
        ((A, R, R, R, R), LOOK_AGAIN_MS),
    ],
)
def test_only_one_that_was_here_a_moment_ago_is_called_again_soon(
    signs: tuple[Sign, ...], wait_ms: int
) -> None:
    called_ms = (len(signs) - 1) * CALL_AGAIN_MS
    assert after(*signs).wait_ms(now_ms=called_ms) == wait_ms
    # One whose connection has lasted is called at once when that has ended.
    assert after(*signs).wait_ms(now_ms=called_ms + 10 * wait_ms) == 0
