"""Writes the transcripts of tests/unit/cli anew, from Apache Kafka 3.9's tools and broker.

    PYTHONPATH=src:tests bin/python -m conformance.record_transcripts [NAME...]

Commands, inputs and files stay as they are; outputs and exit codes are replaced.
"""

import sys
import tempfile
from pathlib import Path

from conformance.apache.broker import apache_broker
from conformance.apache.lines import JavaProgram
from conformance.apache.tools import ApacheTools
from unit.cli.transcript import (
    TRANSCRIPTS,
    Transcript,
    error_line,
    output_lines,
    read_transcript,
    write_transcript,
)


def main(names: list[str]) -> None:
    paths = [TRANSCRIPTS / f"{name}.txt" for name in names] or sorted(TRANSCRIPTS.glob("*.txt"))
    with JavaProgram("tools", "kafka-3.9") as program:
        for path in paths:
            transcript = read_transcript(path)
            with tempfile.TemporaryDirectory() as directory:
                record(transcript, Path(directory), ApacheTools(program))
            write_transcript(path, transcript)


def record(transcript: Transcript, directory: Path, tools: ApacheTools) -> None:
    """Play the steps against a new broker, and keep what is printed."""
    transcript.write_files(directory)
    with apache_broker(directory) as broker:
        broker.start()
        for step in transcript.commands():
            program, arguments = step.arguments(broker.bootstrap, directory)
            ended = tools.run(program, *arguments, stdin=step.input)
            step.code = ended.code
            step.stdout = output_lines(ended.stdout)
            step.error = error_line(ended.stdout, ended.stderr) if ended.code else ""


if __name__ == "__main__":
    main(sys.argv[1:])
