"""Runs the transcripts of Kafka Streams on Moldau, and says where results differ.

    PYTHONPATH=src:tests bin/python -m conformance.topology_comparison [NAME...]

Of tables the last value of each key is compared, of everything else the records with their times,
in whatever order. All transcripts take some minutes; the suite has a selection of them.
"""

import sys
from collections import Counter
from collections.abc import Hashable, Mapping

from pyspark.sql import SparkSession

from conformance import our_topologies
from conformance import topology_transcripts as transcripts
from conformance.topology_transcripts import Record, Transcript
from moldau.streams.test_driver import TestDriver, local_session

# Records that are late within one micro-batch: Kafka Streams drops them, since its time goes on
# with every record; Spark's goes on between micro-batches, so they count. Ours, by transcript.
BY_DESIGN: dict[str, dict[tuple[str, str], str]] = {
    "tumbling.late-in-one-batch": {("output", "a@1000000/1010000"): "2"},
    "session.late-in-one-batch": {
        ("output", "a@1000000/1000000"): "",
        ("output", "a@1000000/1003000"): "2",
    },
    "tumbling-suppressed.late-in-one-batch": {("output", "a@1000000/1010000"): "2"},
}


def run_ours(spark: SparkSession, transcript: Transcript) -> list[Record]:
    """What Moldau writes, step by step."""
    topology = our_topologies.topology(transcript.topology)
    with TestDriver(topology, spark=spark) as driver:
        for step in transcript.steps:
            for each in step:
                driver.pipe(
                    each.topic, key=each.key, value=each.value, timestamp_ms=each.timestamp_ms
                )
            driver.run()
        found = [record for topic in driver.topics() for record in driver.read(topic)]
    return [
        Record(each.topic, _text(each.key), _text(each.value), each.timestamp_ms) for each in found
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


def _text(value: object) -> str | None:
    assert value is None or isinstance(value, str)
    return value


def main(names: list[str]) -> int:
    spark = local_session()
    spark.sparkContext.setLogLevel("ERROR")
    differing = 0
    for name in names or transcripts.names():
        transcript = transcripts.read(name)
        ours = found(transcript, run_ours(spark, transcript))
        is_equal = ours == expected(transcript)
        differing += not is_equal
        print(f"{name}: {'as Kafka Streams' if is_equal else 'DIFFERS'}", flush=True)
        if not is_equal:
            print(f"  expected {expected(transcript)}\n  found    {ours}", flush=True)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
