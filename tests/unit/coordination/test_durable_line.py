"""Answers that wait for a journal."""

from pathlib import Path

import pytest

from moldau.coordination.durable_line import DurableLine
from moldau.coordination.nodes import SessionRow, TreeTransaction
from moldau.coordination.writer import JournalWriter


class Leaving:
    """Notes who left the line, and how."""

    def __init__(self, line: DurableLine) -> None:
        self.line = line
        self.seen: list[str] = []

    def stand(self, name: str) -> None:
        self.line.stand(lambda: self.seen.append(name), lambda: self.seen.append(f"not {name}"))


@pytest.fixture
async def leaving(tmp_path: Path) -> Leaving:
    # The writer is not opened: it keeps what is submitted, and the test says when it is durable.
    return Leaving(DurableLine(JournalWriter(str(tmp_path / "store"))))


def a_change() -> TreeTransaction:
    return TreeTransaction(1, sessions={1: SessionRow(1, b"", 1000)})


async def test_an_answer_leaves_when_what_was_submitted_before_it_is_durable(
    leaving: Leaving,
) -> None:
    leaving.stand("first")
    leaving.line.submit(a_change())
    leaving.stand("second")
    leaving.line.submit(a_change())
    leaving.stand("third")
    assert leaving.seen == ["first"]
    leaving.line.committed(1)
    assert leaving.seen == ["first", "second"]
    leaving.line.committed(1)
    assert leaving.seen == ["first", "second", "third"]


async def test_an_empty_transaction_is_not_waited_for(leaving: Leaving) -> None:
    leaving.line.submit(TreeTransaction(1))
    leaving.stand("reader")
    assert leaving.seen == ["reader"]


async def test_who_still_stands_fails_when_nothing_more_will_be_durable(leaving: Leaving) -> None:
    leaving.line.submit(a_change())
    leaving.stand("one")
    leaving.stand("two")
    leaving.line.give_up()
    assert leaving.seen == ["not one", "not two"]
