"""The topologies of `java/topologies`, written for Moldau: names, topics and results are the same.

A window's key reads key@start/end in both, in milliseconds.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import ClassVar

from moldau.streams import (
    STRING,
    Context,
    JoinWindows,
    KStream,
    KTable,
    Processor,
    Record,
    SessionWindows,
    SlidingWindows,
    StreamsBuilder,
    TimeWindows,
    Topology,
    ValueStore,
)
from moldau.streams.nodes.nodes import Node, Sink, Source
from moldau.streams.processors import Store, Time
from moldau.streams.windows import Windows

SIZE = timedelta(seconds=10)
GRACE = timedelta(seconds=5)
TUMBLING = TimeWindows.of_size_and_grace(SIZE, GRACE)
HOPPING = TUMBLING.advance_by(timedelta(seconds=5))
SLIDING = SlidingWindows.of_time_difference_and_grace(SIZE, GRACE)
SESSIONS = SessionWindows.of_inactivity_gap_and_grace(SIZE, GRACE)
WITHIN = JoinWindows.of_time_difference_and_grace(SIZE, GRACE)
BOTH = "concat(coalesce(left, 'null'), '|', coalesce(right, 'null'))"
WINDOW = "concat(key.key, '@', unix_millis(key.window.start), '/', unix_millis(key.window.end))"

Build = Callable[[StreamsBuilder], None]


def topology(name: str) -> Topology:
    builder = StreamsBuilder()
    TOPOLOGIES[name](builder)
    return builder.build()


def together(names: Sequence[str]) -> Topology:
    """Several topologies as one, on the same sources; what each writes begins with its name."""
    sources: dict[tuple[type[Source], object], Node] = {}
    nodes: list[Node] = []
    for name in names:
        made: dict[Node, Node] = {}
        for node in topology(name).nodes:
            if isinstance(node, Source) and (type(node), node.topics) in sources:
                made[node] = sources[type(node), node.topics]
                continue
            parents = tuple(made[parent] for parent in node.parents)
            fresh = replace(node, name=f"{name}/{node.name}", parents=parents)
            if isinstance(fresh, Source):
                sources[type(fresh), fresh.topics] = fresh
            elif isinstance(fresh, Sink):
                fresh = replace(fresh, topic=f"{name}/{fresh.topic}")
            made[node] = fresh
            nodes.append(fresh)
    return Topology(tuple(nodes))


def stream(builder: StreamsBuilder, topic: str = "input") -> KStream:
    return builder.stream(topic)


def as_text(table: KTable) -> None:
    table.to_stream().map_values("cast(value as string)").to("output")


def as_windows(table: KTable) -> None:
    named = table.to_stream().select_key(WINDOW)
    named.map_values("cast(value as string)").to("output")


def branched(builder: StreamsBuilder) -> None:
    branches = stream(builder).split()
    branches.branch("value like 'a%'").to("apples")
    branches.branch("value like '%r'").to("pears")
    branches.default_branch().to("rest")


def words(builder: StreamsBuilder) -> KTable:
    split = stream(builder).flat_map_values(r"split(lower(value), '\\W+')")
    return split.group_by("value").count()


def concatenated(aggregate: object, value: object) -> object:
    return f"{aggregate}+{value}"


def with_length(key: object, value: object, aggregate: object) -> object:
    return f"{aggregate}{key}{len(str(value))}"


def plus_length(_key: object, value: object, aggregate: object) -> object:
    assert isinstance(aggregate, int)
    return aggregate + len(str(value))


def plus_ten_and_length(_key: object, value: object, aggregate: object) -> object:
    assert isinstance(aggregate, int)
    return aggregate + 10 + len(str(value))


def minus_ten_and_length(_key: object, value: object, aggregate: object) -> object:
    assert isinstance(aggregate, int)
    return aggregate - 10 - len(str(value))


def plus(one: object, other: object) -> object:
    assert isinstance(one, int)
    assert isinstance(other, int)
    return one + other


def minus(one: object, other: object) -> object:
    assert isinstance(one, int)
    assert isinstance(other, int)
    return one - other


def plus_of_key(_key: object, one: object, other: object) -> object:
    return plus(one, other)


def sums(builder: StreamsBuilder) -> KTable:
    grouped = builder.table("input").group_by(
        "struct(left(key, 1) as key, cast(value as bigint) as value)"
    )
    return grouped.reduce(plus, minus)


class Numbering(Processor):
    """Numbers the records of each key."""

    stores: ClassVar[Mapping[str, Store]] = {"seen": ValueStore("bigint")}

    def process(self, record: Record, context: Context) -> Iterator[Record]:
        seen = context.value("seen")
        before = seen.get() or 0
        assert isinstance(before, int)
        seen.put(before + 1)
        yield record.with_value(f"{before + 1}:{record.value}")


class Closing(Processor):
    """Tells how much came for a key, ten seconds after its first record."""

    time: ClassVar[Time] = "event"
    stores: ClassVar[Mapping[str, Store]] = {"count": ValueStore("bigint")}

    def process(self, record: Record, context: Context) -> Iterator[Record]:
        count = context.value("count")
        before = count.get()
        assert isinstance(before, int | None)
        if before is None:
            context.set_timer(record.timestamp_ms + 10_000)
        count.put((before or 0) + 1)
        yield from ()

    def on_timer(self, key: object, time_ms: int, context: Context) -> Iterator[Record]:
        yield Record(key, str(context.value("count").get()), time_ms)
        context.value("count").delete()


def nothing(_batch: object) -> None:
    """What is done with records that are peeked at."""


def aggregated(builder: StreamsBuilder, windows: Windows) -> KTable:
    windowed = stream(builder).group_by_key().windowed_by(windows)
    return windowed.aggregate(str, with_length, returns="string")


def reduced(builder: StreamsBuilder, windows: Windows) -> KTable:
    return stream(builder).group_by_key().windowed_by(windows).reduce(concatenated)


def lengths(builder: StreamsBuilder) -> KTable:
    grouped = builder.table("input").group_by("struct(left(key, 1) as key, value)")
    return grouped.aggregate(int, plus_ten_and_length, minus_ten_and_length, returns="bigint")


STATELESS: dict[str, Build] = {
    "filter": lambda b: stream(b).filter("length(value) > 3").to("output"),
    "filter-not": lambda b: stream(b).filter_not("length(value) > 3").to("output"),
    "map": lambda b: stream(b).map("struct(upper(value) as key, key as value)").to("output"),
    "map-values": lambda b: stream(b).map_values("upper(value)").to("output"),
    "flat-map": lambda b: (
        stream(b)
        .flat_map("transform(split(value, ' '), word -> struct(word as key, key as value))")
        .to("output")
    ),
    "flat-map-values": lambda b: stream(b).flat_map_values("split(value, ' ')").to("output"),
    "select-key": lambda b: stream(b).select_key("left(value, 1)").to("output"),
    "branch": branched,
    "merge": lambda b: stream(b, "left").merge(stream(b, "right")).to("output"),
    "repartition": lambda b: stream(b).select_key("left(value, 1)").repartition().to("output"),
    "peek": lambda b: stream(b).peek(nothing).to("output"),
    "through": lambda b: (
        stream(b)
        .select_key("left(value, 1)")
        .through("between", key=STRING, value=STRING)
        .map_values("upper(value)")
        .to("output")
    ),
}

TABLES: dict[str, Build] = {
    "word-count": lambda b: as_text(words(b)),
    "count": lambda b: as_text(stream(b).group_by_key().count()),
    "reduce": lambda b: as_text(stream(b).group_by_key().reduce(concatenated)),
    "aggregate": lambda b: as_text(
        stream(b).group_by_key().aggregate(str, with_length, returns="string")
    ),
    "table": lambda b: as_text(b.table("input")),
    "time-limit": lambda b: as_text(b.table("input").suppress_until_time_limit(10_000)),
    "size-limit": lambda b: as_text(
        b.table("input").suppress_until_time_limit(10_000, max_records=2)
    ),
    "table-filter": lambda b: as_text(b.table("input").filter("length(value) > 3")),
    "table-filter-not": lambda b: as_text(b.table("input").filter_not("length(value) > 3")),
    "table-map-values": lambda b: as_text(b.table("input").map_values("upper(value)")),
    "table-count": lambda b: as_text(
        b.table("input").group_by("struct(value as key, key as value)").count()
    ),
    "table-reduce": lambda b: as_text(sums(b)),
    "table-aggregate": lambda b: as_text(lengths(b)),
    "to-table": lambda b: as_text(stream(b).to_table()),
    "tumbling": lambda b: as_windows(stream(b).group_by_key().windowed_by(TUMBLING).count()),
    "hopping": lambda b: as_windows(stream(b).group_by_key().windowed_by(HOPPING).count()),
    "sliding": lambda b: as_windows(stream(b).group_by_key().windowed_by(SLIDING).count()),
    "session": lambda b: as_windows(stream(b).group_by_key().windowed_by(SESSIONS).count()),
    "tumbling-reduce": lambda b: as_windows(reduced(b, TUMBLING)),
    "tumbling-aggregate": lambda b: as_windows(aggregated(b, TUMBLING)),
    "hopping-reduce": lambda b: as_windows(reduced(b, HOPPING)),
    "hopping-aggregate": lambda b: as_windows(aggregated(b, HOPPING)),
    "sliding-reduce": lambda b: as_windows(reduced(b, SLIDING)),
    "sliding-aggregate": lambda b: as_windows(aggregated(b, SLIDING)),
    "session-reduce": lambda b: as_windows(reduced(b, SESSIONS)),
    "session-aggregate": lambda b: as_windows(
        stream(b)
        .group_by_key()
        .windowed_by(SESSIONS)
        .aggregate(int, plus_length, returns="bigint", merger=plus_of_key)
    ),
    "table-table": lambda b: as_text(b.table("left").join(b.table("right"), BOTH)),
    "table-table-left": lambda b: as_text(b.table("left").left_join(b.table("right"), BOTH)),
    "table-table-outer": lambda b: as_text(b.table("left").outer_join(b.table("right"), BOTH)),
    "foreign-key": lambda b: as_text(
        b.table("left").join(b.table("right"), BOTH, foreign_key="value")
    ),
    "foreign-key-left": lambda b: as_text(
        b.table("left").left_join(b.table("right"), BOTH, foreign_key="value")
    ),
}

FINAL: dict[str, Build] = {
    "tumbling-suppressed": lambda b: as_windows(
        stream(b).group_by_key().windowed_by(TUMBLING).count().suppress_until_window_closes()
    ),
    "hopping-suppressed": lambda b: as_windows(
        stream(b).group_by_key().windowed_by(HOPPING).count().suppress_until_window_closes()
    ),
    "sliding-suppressed": lambda b: as_windows(
        stream(b).group_by_key().windowed_by(SLIDING).count().suppress_until_window_closes()
    ),
    "session-suppressed": lambda b: as_windows(
        stream(b).group_by_key().windowed_by(SESSIONS).count().suppress_until_window_closes()
    ),
    "stream-stream": lambda b: (
        stream(b, "left").join(stream(b, "right"), BOTH, WITHIN).to("output")
    ),
    "stream-stream-before-after": lambda b: (
        stream(b, "left")
        .join(
            stream(b, "right"),
            BOTH,
            WITHIN.before(timedelta(seconds=2)).after(timedelta(seconds=5)),
        )
        .to("output")
    ),
    "stream-stream-left": lambda b: (
        stream(b, "left").left_join(stream(b, "right"), BOTH, WITHIN).to("output")
    ),
    "stream-stream-outer": lambda b: (
        stream(b, "left").outer_join(stream(b, "right"), BOTH, WITHIN).to("output")
    ),
    "processor": lambda b: stream(b).process(Numbering()).to("output"),
    "processor-timers": lambda b: stream(b).process(Closing()).to("output"),
    "stream-table": lambda b: stream(b, "left").join(b.table("right"), BOTH).to("output"),
    "stream-table-left": lambda b: stream(b, "left").left_join(b.table("right"), BOTH).to("output"),
    "stream-global": lambda b: (
        stream(b, "left").join(b.global_table("right"), BOTH, lookup="value").to("output")
    ),
    "stream-global-left": lambda b: (
        stream(b, "left").left_join(b.global_table("right"), BOTH, lookup="value").to("output")
    ),
}

# Of tables the last value of each key counts; of the others every record, in whatever order.
TOPOLOGIES = STATELESS | TABLES | FINAL
