"""Lines are drawn in the same place, and only when they have changed."""

import io

import pytest

from moldau.streams.run.screen import Screen


def test_lines_are_drawn_over_the_last_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "8")
    output = io.StringIO()
    screen = Screen(output)
    screen.draw(["one", "a long line"])
    assert output.getvalue() == "\r\x1b[Kone\n\r\x1b[Ka long \n"
    screen.draw(["one", "a long line"])
    assert output.getvalue().count("one") == 1
    screen.draw(["two", "b"])
    assert output.getvalue().endswith("\x1b[2A\r\x1b[Ktwo\n\r\x1b[Kb\n")
