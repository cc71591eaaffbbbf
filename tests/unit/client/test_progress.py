"""Long reads show how far they are, and only to people."""

import io
import sys

import pytest

from moldau.client.progress import Progress, terminal


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_a_quick_read_shows_nothing() -> None:
    output, clock = io.StringIO(), Clock()
    with Progress(100, output, clock) as progress:
        clock.now_s = 0.9
        progress.add(100)
    assert output.getvalue() == ""


def test_a_long_read_shows_its_part_now_and_then_and_erases_it() -> None:
    output, clock = io.StringIO(), Clock()
    with Progress(2000, output, clock) as progress:
        clock.now_s = 1.5
        progress.add(1000)
        progress.add(1)
        assert output.getvalue() == "\r[###############               ]  50% 1,000 of 2,000"
        clock.now_s = 2.0
        progress.add(998)
        assert output.getvalue().endswith("1,999 of 2,000")
    assert output.getvalue().endswith("\r\x1b[K")


def test_nothing_is_shown_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert terminal() is None
    clock = Clock()
    with Progress(10, None, clock) as progress:
        clock.now_s = 5.0
        progress.add(5)


def test_a_terminal_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(shown, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", shown)
    assert terminal() is shown
