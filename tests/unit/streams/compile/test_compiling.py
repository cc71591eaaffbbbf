"""Which sinks share a query, and from where they are read together."""

from collections.abc import Callable, Iterator
from typing import ClassVar

import pytest
from pyspark.sql import SparkSession

from moldau.streams import STRING, Context, KStream, Processor, Record, StreamsBuilder, TimeWindows
from moldau.streams.compile.compiling import Query
from moldau.streams.processors import Time
from unit.streams.given import Given, GivenInputs, texts, written

pytestmark = pytest.mark.needs("java")


def compiled(spark: SparkSession, builder: StreamsBuilder) -> tuple[Query, ...]:
    return builder.build().compile(GivenInputs(spark, []), "app")


def test_sinks_without_state_in_between_share_one_read(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    kept = builder.stream("lines").filter("true")
    kept.map_values("upper(value)").to("upper")
    kept.to("same")
    (query,) = compiled(spark, builder)
    assert query.fan_out is kept.node
    found = written(spark, builder.build(), [Given("lines", "k", "x")])
    assert {topic: texts(each) for topic, each in found.items()} == {
        "upper": [("k", "X")],
        "same": [("k", "x")],
    }


def test_the_results_of_a_stateful_step_are_shared_too(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    counts = builder.stream("lines").group_by_key().count(store="counts")
    counts.filter("value > 1").to_stream().to("often")
    (query,) = compiled(spark, builder)
    assert query.fan_out is counts.node
    assert [str(sink.topic) for sink in query.sinks][1:] == ["often"]


def test_what_is_counted_and_what_is_not_cannot_be_shared(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    lines = builder.stream("lines")
    lines.to("same")
    lines.group_by_key().count().to_stream().to("counts")
    lines.merge(builder.stream("more")).to("both")
    (query,) = compiled(spark, builder)
    assert query.fan_out is None
    assert query.frame.columns == ["key", "value", "topic", "headers", "timestamp"]


def test_final_results_and_parts_behind_topics_have_their_own_queries(
    spark: SparkSession,
) -> None:
    builder = StreamsBuilder()
    lines = builder.stream("lines")
    counts = lines.group_by_key().windowed_by(TimeWindows.of_size_with_no_grace(5)).count()
    counts.to_stream().to("changes")
    counts.suppress_until_window_closes().to_stream().to("final")
    lines.through("between", key=STRING, value=STRING).to("end")
    queries = compiled(spark, builder)
    assert [(query.name, query.mode) for query in queries] == [
        ("app-lines-to-final-final", "append"),
        ("app-lines-to-between-changes", "update"),
        ("app-between-to-end", "update"),
    ]
    assert [[sink.topic for sink in query.sinks] for query in queries] == [
        ["final"],
        ["changes", "between"],
        ["end"],
    ]


def test_windows_of_windows_need_a_topic_between_them(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    windows = TimeWindows.of_size_with_no_grace(5)
    counts = builder.stream("lines").group_by_key().windowed_by(windows).count().to_stream()
    counts.select_key("key.key").group_by_key().windowed_by(windows).sum().to_stream().to("sums")
    with pytest.raises(TypeError, match=r"put \.through\(topic\) between them"):
        compiled(spark, builder)


def test_a_time_limit_behind_windows_needs_a_topic_too(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    windows = TimeWindows.of_size_with_no_grace(5)
    counts = builder.stream("lines").group_by_key().windowed_by(windows).count()
    counts.suppress_until_time_limit(9).to_stream().to("calm")
    with pytest.raises(TypeError, match=r"has a time limit.*put \.through\(topic\) between them"):
        compiled(spark, builder)


class Closing(Processor):
    """Has timers that follow the records."""

    time: ClassVar[Time] = "event"

    def process(self, record: Record, context: Context) -> Iterator[Record]:
        context.set_timer(record.timestamp_ms + 10)
        yield from ()


class Passing(Closing):
    """Has no timers."""

    time: ClassVar[Time] = "none"


WINDOWS = TimeWindows.of_size_with_no_grace(5)


def counted(stream: KStream) -> KStream:
    counts = stream.group_by_key().windowed_by(WINDOWS).count().to_stream()
    return counts.map("struct(key.key as key, cast(value as string) as value)")


def closed(stream: KStream) -> KStream:
    return stream.process(Closing())


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ((closed, counted), "has windows, and .* before it has timers of event time"),
        ((counted, closed), "has timers of event time, and .* before it has windows"),
        ((closed, closed), "has timers of event time, and .* before it has timers"),
    ],
)
def test_timers_and_windows_need_a_topic_between_them(
    spark: SparkSession, steps: tuple[Callable[[KStream], KStream], ...], words: str
) -> None:
    builder = StreamsBuilder()
    first, second = steps
    second(first(builder.stream("lines"))).to("out")
    with pytest.raises(TypeError, match=rf"{words}.*put \.through\(topic\) between them"):
        compiled(spark, builder)
    apart = StreamsBuilder()
    between = first(apart.stream("lines")).through("between", key=STRING, value=STRING)
    second(between.process(Passing())).to("out")
    assert len(compiled(spark, apart)) == 2
