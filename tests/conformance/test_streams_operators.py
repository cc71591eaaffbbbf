"""Windows, tables and chains of stateful steps in running queries, against results by hand."""

import os
import sys
from collections.abc import Callable, Iterator

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from moldau.streams import (
    LONG,
    STRING,
    KTable,
    SessionWindows,
    SlidingWindows,
    StreamsBuilder,
    TimeWindows,
    time_windowed,
)
from moldau.streams.testing.driver import TestDriver, local_session

pytestmark = pytest.mark.needs("java")
TUMBLING = TimeWindows.of_size_and_grace(10, 5)
SESSIONS = SessionWindows.of_inactivity_gap_and_grace(10, 5)
SLIDING = SlidingWindows.of_time_difference_and_grace(5, 5)


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    # Workers are processes of their own: they need this interpreter and these packages.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
        session = local_session()
        yield session
        session.stop()


def joining() -> Callable[[object, object], object]:
    """A reducer; made within a function it goes to workers by value, not by name."""
    return lambda aggregate, value: f"{aggregate}{value}"


def write(table: KTable, topic: str) -> None:
    """Keys as `key@start/end`, values as text."""
    named = table.to_stream().select_key(
        "concat(key.key, '@', unix_millis(key.window.start), '/', unix_millis(key.window.end))"
    )
    named.map_values("cast(value as string)").to(topic)


def run(
    spark: SparkSession, builder: StreamsBuilder, *batches: list[tuple[str, str | None, int]]
) -> dict[str, list[list[tuple[str, str | None]]]]:
    """What each topic got by each micro-batch, whose records have no order."""
    found: dict[str, list[list[tuple[str, str | None]]]] = {}
    with TestDriver(builder.build(), spark=spark) as driver:
        known: dict[str, int] = {}
        for number, batch in enumerate(batches):
            for key, value, millis in batch:
                driver.pipe("input", key=key, value=value, timestamp_ms=millis)
            driver.run()
            for topic in driver.topics():
                records = driver.read(topic)
                new = [(str(each.key), each.value) for each in records[known.get(topic, 0) :]]
                known[topic] = len(records)
                steps = found.setdefault(topic, [[] for _ in batches])
                steps[number] = sorted(new, key=str)  # type: ignore[arg-type]
    return found


def test_windows_change_until_they_close_and_late_records_are_dropped(
    spark: SparkSession,
) -> None:
    builder = StreamsBuilder()
    groups = builder.stream("input").group_by_key()
    windowed = groups.windowed_by(TUMBLING)
    write(windowed.count(), "counts")
    write(windowed.reduce(joining()), "joined")
    write(groups.windowed_by(TUMBLING.advance_by(5)).count(), "hopping")
    found = run(
        spark,
        builder,
        [("k", "a", 1), ("k", "b", 9), ("k", "c", 12)],
        [("k", "d", 3)],  # late, yet within the grace period
        [("k", "e", 15), ("k", "h", 2)],  # the first closes [0, 10), once both are taken
        [("k", "f", 4), ("l", "g", 16)],
    )
    assert found["counts"] == [
        [("k@0/10", "2"), ("k@10/20", "1")],
        [("k@0/10", "3")],
        [("k@0/10", "4"), ("k@10/20", "2")],
        [("l@10/20", "1")],
    ]
    assert found["joined"] == [
        [("k@0/10", "ab"), ("k@10/20", "c")],
        [("k@0/10", "abd")],
        [("k@0/10", "abdh"), ("k@10/20", "ce")],
        [("l@10/20", "g")],
    ]
    assert found["hopping"] == [
        [("k@0/10", "2"), ("k@10/20", "1"), ("k@5/15", "2")],
        [("k@0/10", "3")],
        [("k@0/10", "4"), ("k@10/20", "2"), ("k@15/25", "1")],
        [("l@10/20", "1"), ("l@15/25", "1")],
    ]


def test_a_suppressed_window_comes_once_when_it_is_closed(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    groups = builder.stream("input").group_by_key()
    windowed = groups.windowed_by(TUMBLING)
    write(windowed.count().suppress_until_window_closes(), "counts")
    write(windowed.reduce(joining()).suppress_until_window_closes(), "joined")
    write(groups.windowed_by(SESSIONS).count().suppress_until_window_closes(), "sessions")
    found = run(
        spark,
        builder,
        [("k", "a", 1), ("k", "b", 9)],
        [("l", "c", 14), ("k", "d", 8)],
        [("l", "e", 40)],
    )
    assert found == {
        "counts": [[], [], [("k@0/10", "3"), ("l@10/20", "1")]],
        "joined": [[], [], [("k@0/10", "abd"), ("l@10/20", "c")]],
        "sessions": [[], [], [("k@1/9", "3"), ("l@14/14", "1")]],
    }


def test_windows_are_read_from_a_topic_and_come_once_in_a_while(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    counts = builder.stream("input").group_by_key().windowed_by(TUMBLING).count().to_stream()
    read = counts.through("counts", key=time_windowed(STRING, 10), value=LONG)
    table = read.to_table()
    write(table.suppress_until_time_limit(20), "calm")
    write(table.suppress_until_time_limit(20, max_records=9), "few")
    found = run(
        spark,
        builder,
        [("k", "a", 1)],
        [("k", "b", 3), ("l", "c", 11)],
        [("k", "d", 30)],
    )
    assert found["calm"] == found["few"] == [[], [], [("k@0/10", "2")]]


def test_sessions_grow_together_and_the_former_ones_are_deleted(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    sessions = builder.stream("input").group_by_key().windowed_by(SESSIONS)
    write(sessions.count(), "counts")
    write(sessions.reduce(joining()), "joined")
    found = run(
        spark,
        builder,
        [("k", "a", 0), ("k", "b", 14)],
        [("k", "c", 8)],
        [("l", "d", 100)],
        [("k", "e", 14), ("k", "f", 90)],  # the first is later than gap and grace allow
    )
    assert found["counts"] == [
        [("k@0/0", "1"), ("k@14/14", "1")],
        [("k@0/0", None), ("k@0/14", "3"), ("k@14/14", None)],
        [("l@100/100", "1")],
        [("k@90/90", "1")],
    ]
    assert found["joined"][1] == [("k@0/0", None), ("k@0/14", "abc"), ("k@14/14", None)]


def test_sliding_windows_end_with_a_record_or_begin_after_one(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    sliding = builder.stream("input").group_by_key().windowed_by(SLIDING)
    write(sliding.count(), "counts")
    write(sliding.reduce(joining()).suppress_until_window_closes(), "final")
    found = run(
        spark, builder, [("k", "a", 100), ("k", "b", 103)], [("k", "c", 109)], [("l", "d", 200)]
    )
    assert found["counts"] == [
        [("k@101/106", "1"), ("k@95/100", "1"), ("k@98/103", "2")],
        [("k@104/109", "1")],
        [("l@195/200", "1")],
    ]
    assert found["final"] == [
        [],
        [("k@95/100", "a"), ("k@98/103", "ab")],
        [("k@101/106", "b"), ("k@104/109", "c")],
    ]


def test_a_table_that_is_grouped_anew_takes_away_what_it_replaces(spark: SparkSession) -> None:
    builder = StreamsBuilder()

    def added(total: int, size: int) -> int:
        return total + size

    def taken(total: int, size: int) -> int:
        return total - size

    towns = builder.table("input").group_by(lambda key, value: (value, f.length(key)))
    towns.count().to_stream().map_values("cast(value as string)").to("counts")
    towns.sum().to_stream().map_values("cast(value as string)").to("sums")
    folded = towns.reduce(added, taken)
    folded.to_stream().map_values("cast(value as string)").to("folded")
    found = run(
        spark,
        builder,
        [("ann", "Prague", 1), ("jo", "Prague", 2)],
        [("ann", "Dresden", 3)],
        [("jo", None, 4), ("ann", "Dresden", 5)],
    )
    assert found["counts"] == [
        [("Prague", "2")],
        [("Dresden", "1"), ("Prague", "1")],
        [("Dresden", "1"), ("Prague", "0")],
    ]
    assert (
        found["sums"]
        == found["folded"]
        == [
            [("Prague", "5")],
            [("Dresden", "3"), ("Prague", "2")],
            [("Dresden", "3"), ("Prague", "0")],
        ]
    )


def test_words_are_counted_and_counts_are_counted(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    words = builder.stream("input").flat_map_values("split(value, ' ')").group_by("value")
    counts = words.count(store="counts")
    counts.group_by(lambda key, value: (value, key)).count().to_stream().to("frequencies")
    with TestDriver(builder.build(), spark=spark) as driver:
        driver.pipe("input", value="to the sea", timestamp_ms=1)
        driver.run()
        driver.pipe("input", value="the sea the sea", timestamp_ms=2)
        driver.run()
        counted = driver.last_values("test-counts-changelog", value=LONG)
        assert counted == {"to": 1, "the": 3, "sea": 3}
        # How many words there are of each count.
        assert driver.last_values("frequencies", key=LONG, value=LONG) == {1: 1, 3: 2}
