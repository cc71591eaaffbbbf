"""Runs the transcripts of Kafka Streams on Moldau, and says where results differ.

    PYTHONPATH=src:tests bin/python -m conformance.topology_comparison [NAME...]

Of tables the last value of each key is compared, of everything else the records with their times
and headers, in whatever order. Topologies that are given the same records run together, as one
query where Spark lets them; with names, each runs alone.
"""

import os
import sys
import time
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

from pyspark.sql import SparkSession

from conformance import our_topologies
from conformance import topology_transcripts as transcripts
from conformance.topology_transcripts import Record, Transcript
from moldau.streams import SessionWindows, Topology
from moldau.streams.nodes.joins import ForeignKeyJoin, StreamTableJoin, TableJoin
from moldau.streams.nodes.nodes import Changes, Fold, TimeLimit, windows_of
from moldau.streams.nodes.processors import Process
from moldau.streams.testing.driver import OutputRecord, TestDriver, local_session

# Records that are late within one micro-batch: Kafka Streams drops them, since its time goes on
# with every record; Spark's goes on between micro-batches, so they count. Ours, by transcript.
BY_DESIGN: dict[str, dict[tuple[str, str], str]] = {
    "tumbling.late-in-one-batch": {("output", "a@1000000/1010000"): "2"},
    "session.late-in-one-batch": {
        ("output", "a@1000000/1000000"): "",
        ("output", "a@1000000/1003000"): "2",
    },
    "tumbling-suppressed.late-in-one-batch": {("output", "a@1000000/1010000"): "2"},
    "hopping.late-in-one-batch": {
        ("output", "a@995000/1005000"): "2",
        ("output", "a@1000000/1010000"): "2",
    },
    "sliding.late-in-one-batch": {
        ("output", "a@993000/1003000"): "2",
        ("output", "a@1000001/1010001"): "1",
    },
    "stream-stream.late-in-one-batch": {("output", "a"): "l1|late"},
}

SLOW_NODES = (
    *(Fold, Changes, Process, TimeLimit),
    *(TableJoin, ForeignKeyJoin, StreamTableJoin),
)


def is_slow(transcript: Transcript) -> bool:
    """Whether Python keeps the state: Spark then starts a worker for each micro-batch."""
    nodes = our_topologies.topology(transcript.topology).nodes
    return any(
        isinstance(node, SLOW_NODES) or isinstance(windows_of(node), SessionWindows)
        for node in nodes
    )


def groups(names: Sequence[str]) -> list[list[Transcript]]:
    """Transcripts; those of one group have the same input, and the same kind of result."""
    found: dict[Hashable, list[Transcript]] = {}
    for transcript in map(transcripts.read, names):
        is_table = transcript.topology in our_topologies.TABLES
        steps = tuple(map(tuple, transcript.steps))
        # What goes through a topic cannot have another name for it.
        alone = transcript.topology if transcript.topology == "through" else ""
        found.setdefault((steps, is_table, alone), []).append(transcript)
    return list(found.values())


def run_together(spark: SparkSession, group: Sequence[Transcript]) -> dict[str, list[Record]]:
    """What Moldau writes for transcripts with the same input, by their names."""
    first, *others = group
    if not others:
        return {first.name: run_ours(spark, first)}
    topology = our_topologies.together([each.topology for each in group])
    found: dict[str, list[Record]] = {each.name: [] for each in group}
    names = {each.topology: each.name for each in group}
    for record in run_topology(spark, topology, first.steps):
        written_by, _, topic = record.topic.partition("/")
        found[names[written_by]].append(replace(record, topic=topic))
    return found


def run_ours(spark: SparkSession, transcript: Transcript) -> list[Record]:
    """What Moldau writes, step by step."""
    return run_topology(spark, our_topologies.topology(transcript.topology), transcript.steps)


def run_topology(
    spark: SparkSession, topology: Topology, steps: list[list[Record]]
) -> list[Record]:
    """What a topology of ours writes, step by step."""
    with TestDriver(topology, spark=spark) as driver:
        for step in steps:
            for each in step:
                driver.pipe(
                    each.topic,
                    key=each.key,
                    value=each.value,
                    timestamp_ms=each.timestamp_ms,
                    headers=tuple((name, text.encode()) for name, text in each.headers),
                )
            driver.run()
        found = [record for topic in driver.topics() for record in driver.read(topic)]
    return [
        Record(each.topic, _text(each.key), _text(each.value), each.timestamp_ms, _texts(each))
        for each in found
    ]


def expected(transcript: Transcript) -> Mapping[Hashable, object]:
    """What Moldau has to come to: the transcript, but for what differs by design."""
    if transcript.name not in BY_DESIGN:
        return summary(transcript.topology, transcript.outputs)
    values = transcripts.last_values(transcript.outputs) | BY_DESIGN[transcript.name]
    return {key: value for key, value in values.items() if value}


def found(transcript: Transcript, records: list[Record]) -> Mapping[Hashable, object]:
    """What Moldau has come to, to be compared with what is expected."""
    if transcript.name in BY_DESIGN:
        return dict(transcripts.last_values(records))
    return summary(transcript.topology, records)


def summary(topology: str, records: list[Record]) -> Mapping[Hashable, object]:
    if topology in our_topologies.TABLES:
        return dict(transcripts.last_values(records))
    return dict(Counter(records))


def _texts(record: OutputRecord) -> tuple[tuple[str, str], ...]:
    return tuple((name, (data or b"").decode()) for name, data in record.headers)


def _text(value: object) -> str | None:
    assert value is None or isinstance(value, str)
    return value


def main(names: list[str]) -> int:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = local_session()
    spark.sparkContext.setLogLevel("ERROR")
    chosen = [[transcripts.read(name)] for name in names] or groups(transcripts.names())
    differing = 0
    for group in chosen:
        started_s = time.monotonic()
        written = run_together(spark, group)
        print(f"{time.monotonic() - started_s:.1f} s", flush=True)
        for transcript in group:
            differing += not _compared(transcript, written[transcript.name])
    print(f"{sum(map(len, chosen))} transcripts, of which {differing} differ")
    return 1 if differing else 0


def _compared(transcript: Transcript, records: list[Record]) -> bool:
    ours, theirs = found(transcript, records), expected(transcript)
    is_equal = ours == theirs
    same = "as said to differ" if transcript.name in BY_DESIGN else "as Kafka Streams"
    print(f"  {transcript.name}: {same if is_equal else 'DIFFERS'}", flush=True)
    if not is_equal:
        print(f"    expected {theirs}\n    found    {ours}", flush=True)
    return is_equal


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
