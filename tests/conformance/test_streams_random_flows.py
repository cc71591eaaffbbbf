"""Random topologies make the same of random records as in Kafka Streams: times, headers, order."""

import os
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from pyspark.sql import SparkSession

from conformance import random_flows
from conformance.apache.lines import JavaProgram
from conformance.apache.marks import needs_apache
from conformance.random_flows import TABLES, Flow
from conformance.topology_comparison import run_topology
from conformance.topology_transcripts import Record, run_flows
from moldau.streams.testing.driver import local_session

pytestmark = needs_apache("streams-3.9")
few = settings(
    max_examples=int(os.environ.get("MOLDAU_TOPOLOGIES", "4")),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(scope="module")
def kafka_streams() -> Iterator[JavaProgram]:
    with JavaProgram("topologies", "streams-3.9") as program:
        yield program


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
        session = local_session()
        session.sparkContext.setLogLevel("ERROR")
        yield session
        session.stop()


def by_key(records: Sequence[Record], flows: Sequence[Flow]) -> dict[object, list[Record]]:
    """What each topic has of each key, in order; of tables the last, deletions left out.

    In a micro-batch a table changes once, so what came between is not written. What was merged has
    no order between its branches.
    """
    found: dict[object, list[Record]] = defaultdict(list)
    for each in records:
        flow = flows[int(each.topic.removeprefix("out-"))]
        place = (each.topic, each.key)
        if flow and flow[-1] in TABLES:
            # Of aggregates Kafka Streams has the headers of some record, ours none.
            found[place] = [replace(each, headers=())]
        else:
            found[place].append(each)
            if "merge" in flow:
                found[place].sort(key=repr)
    return found


@few
@given(flows=random_flows.flows(), steps=random_flows.records())
def test_random_topologies_make_the_same_of_random_records(
    kafka_streams: JavaProgram,
    spark: SparkSession,
    flows: list[Flow],
    steps: list[list[Record]],
) -> None:
    theirs = run_flows(kafka_streams, flows, steps)
    ours = run_topology(spark, random_flows.topology(flows), steps)
    assert by_key(ours, flows) == by_key(theirs, flows)
