"""The command `bin/faults`: what it is told, and what it tells."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from faults.catalogue import FAULTS
from faults.fault import Result
from faults.run import chosen, line, on_brokers, told

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "reliability.md"
ASKED = {*range(1, 17), *range(25, 30), *range(31, 37)}


def test_every_fault_of_real_processes_can_be_played() -> None:
    assert {f"F{number}" for number in ASKED} <= FAULTS.keys()


def test_a_result_is_a_line_of_the_table() -> None:
    result = Result(FAULTS["F1"], [], ["12 acknowledged"], 3.4)
    assert line(result) == f"| F1 | {FAULTS['F1'].does} | holds; 12 acknowledged | 3 |"


def test_a_violation_comes_with_the_command_that_plays_it_again() -> None:
    result = Result(FAULTS["F1"], ["replicas_agree: no"], [], 3.4)
    assert "1 violations" in line(result)
    assert "bin/faults F1 -v" in told(result)
    assert "replicas_agree: no" in told(result)


def test_faults_are_chosen_by_name() -> None:
    assert chosen(["F8", "F1"]) == [FAULTS["F8"], FAULTS["F1"]]
    assert chosen([]) == [one for one in FAULTS.values() if not one.is_supervised]
    assert chosen(on_brokers())[-1] == FAULTS["F46"]


def test_faults_that_cut_no_links_may_be_guarded() -> None:
    (one,) = chosen(["F1"], is_guarded=True)
    assert one.is_guarded
    assert one == replace(FAULTS["F1"], is_guarded=True)
    all_of_them = chosen([], is_guarded=True)
    assert not any(one.is_linked for one in all_of_them)
    assert len(all_of_them) == sum(not one.is_linked for one in chosen([]))


def test_what_a_supervisor_cannot_stand_in_for_is_not_played_on_it() -> None:
    for one in chosen(on_brokers()):
        assert not one.is_linked
        assert one.program == "moldau"
        assert not any("{" in text for text in one.settings.values())


def test_the_document_has_a_line_for_every_fault() -> None:
    lines = dict(re.findall(r"^\| (F\d+) \| (.*?) \|", DOCUMENT.read_text(), re.MULTILINE))
    assert lines == {name: one.does for name, one in FAULTS.items()}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_says_in_a_sentence_what_it_does(name: str) -> None:
    assert FAULTS[name].does[0].isupper()
    assert "|" not in FAULTS[name].does
