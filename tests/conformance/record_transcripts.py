"""Writes the transcripts of tests/unit/cli anew, from Apache Kafka 3.9's tools and broker.

    PYTHONPATH=src:tests bin/python -m conformance.record_transcripts [NAME...]

Those of 2.1, named `2.1/topics`, are from Apache Kafka 2.1's tools, a ZooKeeper, and two brokers of
ours. Commands, inputs and files stay as they are; outputs and exit codes are replaced.
"""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from conformance.apache.broker import apache_broker, zookeeper
from conformance.apache.lines import JavaProgram
from conformance.apache.tools import ApacheTools, run_older
from conformance.our_broker import OurBroker
from unit.cli.transcript import (
    OLDER_TRANSCRIPTS,
    TRANSCRIPTS,
    Printed,
    Step,
    Transcript,
    error_line,
    output_lines,
    play,
    read_transcript,
    write_transcript,
)


def main(names: list[str]) -> None:
    paths = [TRANSCRIPTS / f"{name}.txt" for name in names] or sorted(TRANSCRIPTS.rglob("*.txt"))
    older = [path for path in paths if path.parent == OLDER_TRANSCRIPTS]
    if older:
        record_older(older)
    paths = [path for path in paths if path not in older]
    with JavaProgram("tools", "kafka-3.9") as program:
        for path in paths:
            transcript = read_transcript(path)
            with tempfile.TemporaryDirectory() as directory:
                record(transcript, Path(directory), ApacheTools(program))
            write_transcript(path, transcript)


def record(transcript: Transcript, directory: Path, tools: ApacheTools) -> None:
    """Play the steps against a new broker, and keep what is printed."""
    with apache_broker(directory) as broker:
        broker.start()
        for step, ended in play(transcript, broker.bootstrap, directory, tools.run):
            keep(step, ended)


def keep(step: Step, ended: Printed) -> None:
    """Note what a command printed; lines without an order stay marked."""
    step.code = ended.code
    step.stdout = output_lines(ended.stdout)
    step.error = error_line(ended.stdout, ended.stderr) if ended.code else ""


def record_older(paths: list[Path]) -> None:
    """Play transcripts of 2.1, all with one cluster."""
    with tempfile.TemporaryDirectory() as directory, old_cluster(Path(directory)) as servers:
        for path in paths:
            transcript = read_transcript(path)
            transcript.write_files(Path(directory))
            for step in transcript.commands():
                program, arguments = step.arguments("", Path(directory), servers)
                keep(step, run_older(program, *arguments))
            write_transcript(path, transcript)


@contextmanager
def old_cluster(directory: Path) -> Iterator[str]:
    """Two of our brokers with a ZooKeeper; yields its address."""
    with zookeeper(directory / "zookeeper") as port, ExitStack() as stack:
        for number in (0, 1):
            settings = {"zookeeper.connect": f"127.0.0.1:{port}", "broker.id": str(number)}
            broker = OurBroker(directory / f"broker-{number}", settings)
            broker.start()
            stack.callback(broker.kill)
        yield f"127.0.0.1:{port}"


if __name__ == "__main__":
    main(sys.argv[1:])
