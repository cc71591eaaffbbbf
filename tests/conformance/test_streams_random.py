"""Random records make the same of our stateful steps and of Kafka Streams, with times and order.

Each record is a micro-batch of its own, so that time goes on as it does in Kafka Streams. The steps
run by Spark's tester of processors, without a JVM; Kafka's test driver stays in one.
"""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import Row
from pyspark.sql.streaming.tws_tester import TwsTester
from pyspark.sql.types import StringType, StructType

from conformance import topology_transcripts as transcripts
from conformance.apache.lines import JavaProgram
from conformance.apache.marks import needs_apache
from conformance.our_topologies import SESSIONS
from conformance.topology_transcripts import Record, Transcript
from moldau.streams.compile.compilation import Mode
from moldau.streams.compile.folded_summaries import combining
from moldau.streams.compile.joining_tables import StreamTableJoining, TableJoining
from moldau.streams.compile.limiting import Holding
from moldau.streams.compile.session_folding import FoldSessions
from moldau.streams.nodes.joins import Kind
from unit.streams.state_rows import task

pytestmark = needs_apache("streams-3.9")
EPOCH_MS = 1_000_000
LIMIT_MS = 10_000
KEYS = st.sampled_from("ab")
KINDS: dict[str, Kind] = {"": "inner", "-left": "left", "-outer": "outer"}
quickly = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(scope="module")
def kafka_streams() -> Iterator[JavaProgram]:
    with JavaProgram("topologies", "streams-3.9") as program:
        yield program


def sides() -> st.SearchStrategy[list[Record]]:
    """Records of two topics, in any order of time; some delete their keys."""
    values = st.none() | st.sampled_from(["x", "yy", "z"])
    times = st.integers(EPOCH_MS, EPOCH_MS + 20)
    return st.lists(
        st.builds(Record, st.sampled_from(["left", "right"]), KEYS, values, times),
        min_size=2,
        max_size=12,
    )


def clicks() -> st.SearchStrategy[list[Record]]:
    """Records that prolong, join and miss sessions with gaps of ten seconds, often just so."""
    seconds = st.integers(0, 9).map(lambda fives: fives * 5) | st.integers(0, 45)
    times = seconds.map(lambda each: EPOCH_MS + each * 1_000)
    return st.lists(
        st.builds(Record, st.just("input"), KEYS, st.sampled_from(["x", None]), times),
        min_size=1,
        max_size=14,
    )


def changes() -> st.SearchStrategy[list[Record]]:
    """Changes of a table, in any order of time, some just as long apart as they are held back."""
    seconds = st.integers(0, 9).map(lambda fives: fives * 5) | st.integers(0, 45)
    times = seconds.map(lambda each: EPOCH_MS + each * 1_000)
    values = st.none() | st.sampled_from(["x", "yy", "z"])
    keys = st.sampled_from("abcd")
    return st.lists(st.builds(Record, st.just("input"), keys, values, times), max_size=14)


def by_key(records: list[Record]) -> dict[str | None, list[Record]]:
    """The records of each key in their order; there is none between keys."""
    found: dict[str | None, list[Record]] = {}
    for each in records:
        found.setdefault((each.key or "").partition("@")[0], []).append(each)
    return found


def joined(tester: TwsTester, records: list[Record]) -> list[Record]:
    """What a join makes of the records, one after the other."""
    found: list[Record] = []
    for offset, each in enumerate(records):
        is_left = each.topic == "left"
        value = {"left": each.value if is_left else None, "right": None if is_left else each.value}
        place = {"topic": each.topic, "partition": 0, "offset": offset, "steps": []}
        row = Row(**value, is_left=is_left, millis=each.timestamp_ms, headers=None, place=place)
        for result in tester.test(each.key, [row]):
            is_deleted = "is_deleted" in result.__fields__ and result.is_deleted
            text = None if is_deleted else f"{result.left or 'null'}|{result.right or 'null'}"
            found.append(Record("output", each.key, text, result.millis))
    return found


def expected(program: JavaProgram, topology: str, records: list[Record]) -> list[Record]:
    return transcripts.run_kafka_streams(program, Transcript(topology, [records]))


@pytest.mark.parametrize("suffix", KINDS)
@quickly
@given(records=sides())
def test_tables_are_joined_alike(
    kafka_streams: JavaProgram, suffix: str, records: list[Record]
) -> None:
    tester = TwsTester(TableJoining(StringType(), StringType(), KINDS[suffix]))
    theirs = expected(kafka_streams, f"table-table{suffix}", records)
    assert by_key(joined(tester, records)) == by_key(theirs)


@pytest.mark.parametrize("suffix", ["", "-left"])
@quickly
@given(records=sides())
def test_streams_are_joined_with_tables_alike(
    kafka_streams: JavaProgram, suffix: str, records: list[Record]
) -> None:
    tester = TwsTester(StreamTableJoining(StringType(), KINDS[suffix]))
    theirs = expected(kafka_streams, f"stream-table{suffix}", records)
    assert by_key(joined(tester, records)) == by_key(theirs)


def sessions(records: list[Record], mode: Mode) -> list[Record]:
    """What counted sessions make of records, one after the other."""
    processor = FoldSessions(task(combining("count"), mode), StructType([]), SESSIONS)
    tester = TwsTester(processor, timeMode="eventtime", eventTimeExtractor=lambda _: 1 << 60)
    found: list[Row] = []
    newest_ms = 0
    for offset, each in enumerate(records):
        place = {"topic": "input", "partition": 0, "offset": offset, "steps": []}
        found += tester.test(each.key, [Row(value=1, millis=each.timestamp_ms, place=place)])
        if each.timestamp_ms > newest_ms:
            newest_ms = each.timestamp_ms
            found += tester.setWatermark(newest_ms - SESSIONS.grace_ms)
    return [
        Record(
            "output",
            f"{each.key}@{each.start}/{each.end}",
            None if each.value is None else str(each.value),
            each.millis,
        )
        for each in found
    ]


@pytest.mark.parametrize(("suffix", "mode"), [("", "update"), ("-suppressed", "append")])
@quickly
@given(records=clicks())
def test_sessions_are_counted_alike(
    kafka_streams: JavaProgram, suffix: str, mode: Mode, records: list[Record]
) -> None:
    # A cache still knows sessions that its store has given up, and merges them without a word.
    transcript = Transcript(f"session{suffix}", [records])
    theirs = transcripts.run_kafka_streams(kafka_streams, transcript, cached=False)
    assert by_key(sessions(records, mode)) == by_key(without_brief_deletions(theirs))


def limited(records: list[Record], records_max: int | None) -> list[Record]:
    """What a table of the records lets through, one after the other."""
    processor = Holding(LIMIT_MS, records_max, StructType([]))
    tester = TwsTester(processor, timeMode="eventtime", eventTimeExtractor=lambda _: 1 << 60)
    found: list[Row] = []
    newest_ms = 0
    for offset, each in enumerate(records):
        place = {"topic": "input", "partition": 0, "offset": offset, "steps": []}
        row = Row(
            key=each.key, value=each.value, millis=each.timestamp_ms, headers=None, place=place
        )
        found += tester.test(each.key if records_max is None else 0, [row])
        if each.timestamp_ms > newest_ms:
            newest_ms = each.timestamp_ms
            found += tester.setWatermark(newest_ms)
    return [Record("output", each.key, each.value, each.millis) for each in found]


@pytest.mark.parametrize(("name", "records_max"), [("time-limit", None), ("size-limit", 2)])
@quickly
@given(records=changes())
def test_changes_are_held_back_alike(
    kafka_streams: JavaProgram, name: str, records_max: int | None, records: list[Record]
) -> None:
    theirs = transcripts.run_kafka_streams(kafka_streams, Transcript(name, [records]), cached=False)
    assert by_key(limited(records, records_max)) == by_key(theirs)


def without_brief_deletions(records: list[Record]) -> list[Record]:
    """Without a cache Kafka deletes a session before it changes it; nobody has to see that."""
    following = [*records[1:], None]
    return [
        each
        for each, after in zip(records, following, strict=False)
        if each.value is not None or after is None or after.key != each.key
    ]
