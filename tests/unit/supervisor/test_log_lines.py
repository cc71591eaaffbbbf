"""One log of several brokers."""

import json

from moldau.supervisor.log_lines import marked


def test_each_line_has_its_broker() -> None:
    assert marked("[now] INFO started", 2) == "[broker 2] [now] INFO started"


def test_a_line_of_json_stays_one() -> None:
    assert json.loads(marked('{"level": "INFO", "text": "é"}', 1)) == {
        "level": "INFO",
        "text": "é",
        "broker": 1,
    }
    assert marked("{no json", 1) == "[broker 1] {no json"
