"""Our commands print what Apache's print: each transcript is played against our broker."""

from pathlib import Path

import pytest

from moldau.testing.broker import running_broker
from unit.cli.command import run
from unit.cli.transcript import TRANSCRIPTS, Step, error_line, output_lines, plain, read_transcript

# As the broker has it with which the transcripts were recorded.
SETTINGS = {
    "broker.id": "1",
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": "0",
}


@pytest.mark.parametrize("path", sorted(TRANSCRIPTS.glob("*.txt")), ids=lambda path: path.stem)
def test_a_transcript_of_apaches_tools_is_reproduced(path: Path, tmp_path: Path) -> None:
    transcript = read_transcript(path)
    transcript.write_files(tmp_path)
    with running_broker(SETTINGS) as broker:
        for step in transcript.commands():
            program, arguments = step.arguments(broker.bootstrap_servers, tmp_path)
            done = run(program, *arguments, stdin=step.input)
            compare(step, done.code, done.stdout, done.stderr)


def compare(step: Step, code: int, stdout: str, stderr: str) -> None:
    """The same code; the same lines in any order; and for failures the same reason."""
    assert code == step.code, f"{step.command}: {stdout}{stderr}"
    if step.error:
        said = error_line(stdout, stderr)
        assert plain(step.error) in said or said in plain(step.error), f"{step.command}: {said}"
    expected = sorted(plain(line).split() for line in step.stdout if line)
    found = sorted(line.split() for line in output_lines(stdout) if line)
    assert found == expected, step.command
