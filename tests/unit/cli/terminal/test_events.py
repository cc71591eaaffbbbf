"""Events as lines of JSON."""

import json

import pytest

from moldau.cli.terminal.events import print_event


def test_an_event_has_a_time_and_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    print_event("done", count=3)
    event = json.loads(capsys.readouterr().out)
    assert event.pop("timestamp") > 1_700_000_000_000
    assert event == {"name": "done", "count": 3}
