"""Topologies of ours and of Kafka Streams make the same of the same records."""

import os
import sys
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from conformance import our_topologies
from conformance import topology_transcripts as transcripts
from conformance.apache.lines import JavaProgram
from conformance.apache.marks import needs_apache
from conformance.topology_comparison import (
    BY_DESIGN,
    expected,
    found,
    groups,
    is_slow,
    run_together,
)
from conformance.topology_transcripts import Transcript
from moldau.streams.testing.driver import local_session

# Of what is slow, one transcript for each way in which Spark is used; of the rest, all.
SLOW = (
    "table-count",
    "sliding",
    "stream-table",
    "foreign-key-left",
    "sliding.late-in-one-batch",
    "session-suppressed.joining",
)
CHOSEN = [
    name for name in transcripts.names() if name in SLOW or not is_slow(transcripts.read(name))
]
GROUPS = {group[0].name: group for group in groups(CHOSEN)}


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
        session = local_session()
        session.sparkContext.setLogLevel("ERROR")
        yield session
        session.stop()


@needs_apache("streams-3.9")
def test_the_transcripts_are_what_kafka_streams_does() -> None:
    with JavaProgram("topologies", "streams-3.9") as program:
        assert set(program.call("names")) == {
            transcripts.read(name).topology for name in transcripts.names()
        }
        for name in transcripts.names():
            transcript = transcripts.read(name)
            assert transcripts.run_kafka_streams(program, transcript) == transcript.outputs, name


def test_every_topology_is_written_for_both() -> None:
    topologies = {transcripts.read(name).topology for name in transcripts.names()}
    assert topologies == set(our_topologies.TOPOLOGIES)
    assert set(transcripts.names()) >= {*BY_DESIGN}
    assert sorted(each.name for group in GROUPS.values() for each in group) == CHOSEN
    assert {*SLOW} <= {*CHOSEN} <= {*transcripts.names()}


@pytest.mark.needs("java")
@pytest.mark.parametrize("group", GROUPS.values(), ids=GROUPS)
def test_topologies_make_the_same_of_the_same_records(
    spark: SparkSession, group: list[Transcript]
) -> None:
    written = run_together(spark, group)
    for each in group:
        assert found(each, written[each.name]) == expected(each), each.name
