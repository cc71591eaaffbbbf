"""Our commands print what Apache's print: each transcript is played against our broker."""

from pathlib import Path

import pytest

from moldau.testing.broker import running_broker
from unit.cli.command import run
from unit.cli.transcript import TRANSCRIPTS, compare, play, read_transcript

# As the broker has it with which the transcripts were recorded.
SETTINGS = {
    "broker.id": "1",
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": "0",
}


@pytest.mark.parametrize("path", sorted(TRANSCRIPTS.glob("*.txt")), ids=lambda path: path.stem)
def test_a_transcript_of_apaches_tools_is_reproduced(path: Path, tmp_path: Path) -> None:
    with running_broker(SETTINGS) as broker:
        for step, done in play(read_transcript(path), broker.bootstrap_servers, tmp_path, run):
            compare(step, done)
