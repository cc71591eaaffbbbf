"""Flows of steps as hypothesis draws them, for Moldau; `java/topologies/Flows.java` has the same.

Each goes from the topic input to one of its own: some stateless steps, at the end perhaps a table.
"""

from collections.abc import Callable, Sequence
from datetime import timedelta

from hypothesis import strategies as st

from conformance.our_topologies import WINDOW
from conformance.topology_transcripts import Record
from moldau.streams import KStream, KTable, StreamsBuilder, TimeWindows, Topology

Flow = tuple[str, ...]

EPOCH_MS = 1_000_000
SIZE = timedelta(seconds=10)
# Which records are late is another question: within a micro-batch it has another answer here.
TUMBLING = TimeWindows.of_size_and_grace(SIZE, timedelta(days=1))
HOPPING = TUMBLING.advance_by(timedelta(seconds=5))
IS_LONG = "coalesce(length(value) > 3, false)"


def long_branch(stream: KStream) -> KStream:
    branches = stream.split()
    branches.branch("value is null")
    return branches.branch(IS_LONG)


def default_branch(stream: KStream) -> KStream:
    branches = stream.split()
    branches.branch(IS_LONG)
    return branches.default_branch()


def as_text(table: KTable) -> KStream:
    return table.to_stream().map_values("cast(value as string)")


def as_windows(table: KTable) -> KStream:
    return table.to_stream().select_key(WINDOW).map_values("cast(value as string)")


# All of them run inside Spark: Python's workers take too long to start for each topology.
STATELESS: dict[str, Callable[[KStream], KStream]] = {
    "filter": lambda stream: stream.filter(IS_LONG),
    "filter-not": lambda stream: stream.filter_not(IS_LONG),
    "map": lambda stream: stream.map("struct(value as key, key as value)"),
    "map-values": lambda stream: stream.map_values("upper(value)"),
    "select-key": lambda stream: stream.select_key("left(value, 1)"),
    "flat-map": lambda stream: stream.flat_map(
        "transform(split(value, ' '), word -> struct(word as key, key as value))"
    ),
    "flat-map-values": lambda stream: stream.flat_map_values("split(value, ' ')"),
    "merge": lambda stream: stream.merge(stream.filter(IS_LONG)),
    "branch": long_branch,
    "default-branch": default_branch,
}
TABLES: dict[str, Callable[[KStream], KStream]] = {
    "count": lambda stream: as_text(stream.group_by_key().count()),
    "tumbling": lambda stream: as_windows(stream.group_by_key().windowed_by(TUMBLING).count()),
    "hopping": lambda stream: as_windows(stream.group_by_key().windowed_by(HOPPING).count()),
}


def topology(flows: Sequence[Flow]) -> Topology:
    builder = StreamsBuilder()
    origin = builder.stream("input")
    for number, flow in enumerate(flows):
        stream = origin
        for step in flow:
            stream = (STATELESS | TABLES)[step](stream)
        stream.to(f"out-{number}")
    return builder.build()


def flows() -> st.SearchStrategy[list[Flow]]:
    """Several flows: up to four stateless steps each, and a table at the end of some."""
    steps = st.lists(st.sampled_from([*STATELESS]), max_size=4)
    last = st.sampled_from([(), *((each,) for each in TABLES)])
    flow = st.builds(lambda these, end: (*these, *end), steps, last)
    return st.lists(flow, min_size=6, max_size=8)


def records() -> st.SearchStrategy[list[list[Record]]]:
    """A few micro-batches of records, in any order of time, with and without keys and values."""
    record = st.builds(
        Record,
        st.just("input"),
        st.sampled_from(["a", "bb", "the sea"]) | st.none(),
        st.sampled_from(["x", "elbe", "to the sea", "moldau elbe", ""]) | st.none(),
        st.integers(EPOCH_MS, EPOCH_MS + 25_000),
        st.sampled_from([(), (("by", "one"),), (("by", "one"), ("by", "two"))]),
    )
    return st.lists(st.lists(record, min_size=1, max_size=8), min_size=1, max_size=2)
