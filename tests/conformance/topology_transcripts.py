"""What Kafka Streams makes of given records, written down: one file per topology and input.

    PYTHONPATH=src:tests bin/python -m conformance.topology_transcripts

writes the outputs anew; inputs stay as they are. A file is named after its topology in
`java/topologies`; what follows a dot says what is special about its input. A line is a record
as topic, key, value and timestamp in milliseconds, and headers as pairs if it has any: `<` goes
in, `>` came out. Between lines `---` are records that Moldau gets in one micro-batch; Kafka
Streams takes one after the other.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from conformance.apache.lines import JavaProgram

DIRECTORY = Path(__file__).with_name("topologies")


@dataclass(frozen=True, slots=True, order=True)
class Record:
    topic: str
    key: str | None
    value: str | None
    timestamp_ms: int
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class Transcript:
    name: str
    steps: list[list[Record]]
    outputs: list[Record] = field(default_factory=list)

    @property
    def topology(self) -> str:
        return self.name.partition(".")[0]

    @property
    def inputs(self) -> list[Record]:
        return [record for step in self.steps for record in step]

    def last_values(self) -> dict[tuple[str, str | None], str | None]:
        """What a reader of the outputs has in a table; a key that was deleted has no value."""
        return last_values(self.outputs)


def last_values(records: list[Record]) -> dict[tuple[str, str | None], str | None]:
    found = {(record.topic, record.key): record.value for record in records}
    return {key: value for key, value in found.items() if value is not None}


def names() -> list[str]:
    return sorted(path.stem for path in DIRECTORY.glob("*.txt"))


def read(name: str) -> Transcript:
    transcript = Transcript(name, [[]])
    for line in (DIRECTORY / f"{name}.txt").read_text().splitlines():
        if line == "---":
            transcript.steps.append([])
        elif line.startswith("< "):
            transcript.steps[-1].append(_record(*json.loads(line[2:])))
        else:
            transcript.outputs.append(_record(*json.loads(line.removeprefix("> "))))
    return transcript


def _record(
    topic: str,
    key: str | None,
    value: str | None,
    timestamp_ms: int,
    headers: Sequence[tuple[str, str]] = (),
) -> Record:
    return Record(topic, key, value, timestamp_ms, tuple((name, text) for name, text in headers))


def write(transcript: Transcript) -> None:
    steps = ["".join(_line("<", record) for record in step) for step in transcript.steps]
    outputs = [_line(">", record) for record in transcript.outputs]
    (DIRECTORY / f"{transcript.name}.txt").write_text("---\n".join(steps) + "".join(outputs))


def run_kafka_streams(
    program: JavaProgram, transcript: Transcript, *, cached: bool = True
) -> list[Record]:
    """What the program `topologies` says of the same input."""
    return _run(program, transcript.inputs, topology=transcript.topology, cached=cached)


def run_flows(
    program: JavaProgram, flows: Sequence[Sequence[str]], steps: list[list[Record]]
) -> list[Record]:
    """The same of flows that have no name, but steps."""
    records = [record for step in steps for record in step]
    return _run(program, records, flows=[[*flow] for flow in flows], cached=True)


def _run(program: JavaProgram, inputs: list[Record], **arguments: object) -> list[Record]:
    records = [
        {
            "topic": each.topic,
            "key": each.key,
            "value": each.value,
            "timestamp": each.timestamp_ms,
            "headers": each.headers,
        }
        for each in inputs
    ]
    answers = program.call("run", records=records, **arguments)
    return [
        _record(each["topic"], each["key"], each["value"], each["timestamp"], each["headers"])
        for each in answers
    ]


def _line(mark: str, record: Record) -> str:
    parts: list[object] = [record.topic, record.key, record.value, record.timestamp_ms]
    if record.headers:
        parts.append(record.headers)
    return f"{mark} {json.dumps(parts, ensure_ascii=False)}\n"


def main() -> None:
    with JavaProgram("topologies", "streams-3.9") as program:
        for name in names():
            transcript = read(name)
            transcript.outputs = run_kafka_streams(program, transcript)
            write(transcript)


if __name__ == "__main__":
    main()
