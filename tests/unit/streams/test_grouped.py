"""What groups put into the graph, and what they refuse."""

import pytest

from moldau.streams import SessionWindows, SlidingWindows, StreamsBuilder, TimeWindows
from moldau.streams.functions import Summary
from moldau.streams.grouped import KGroupedStream, KGroupedTable
from moldau.streams.nodes.nodes import Fold, InternalTopic, Sink, Summarize

SLIDING = SlidingWindows.of_time_difference_with_no_grace(5)
SESSIONS = SessionWindows.of_inactivity_gap_with_no_grace(5)


def grouped() -> KGroupedStream:
    return StreamsBuilder().stream("lines").group_by_key()


def grouped_table() -> KGroupedTable:
    return StreamsBuilder().table("prices").group_by("struct(value as key, 1 as value)")


def test_built_in_aggregations_stay_in_spark() -> None:
    made = [grouped().count(), grouped().sum(), grouped().min("value.n"), grouped().max()]
    made += [grouped().average(), grouped().summarize(n="count(*)", top="max(value)")]
    nodes = [table.node for table in made]
    kinds = [node.summaries[0].kind for node in nodes if isinstance(node, Summarize)]
    assert kinds == ["count", "sum", "min", "max", "avg", "column"]
    last = nodes[-1]
    assert isinstance(last, Summarize)
    assert last.summaries[1] == Summary("column", "max(value)", "top")
    with pytest.raises(ValueError, match="name at least one aggregation"):
        grouped().summarize()


def test_a_reducer_is_given_the_aggregate_and_the_value() -> None:
    node = grouped().reduce(lambda aggregate, value: f"{aggregate}+{value}").node
    assert isinstance(node, Fold)
    assert node.folding.add("key", "b", "a") == "a+b"
    assert node.folding.merge is not None
    assert node.folding.merge("key", "a", "b") == "a+b"


def test_an_aggregator_is_given_key_value_and_aggregate() -> None:
    node = grouped().aggregate(list, lambda *all_three: all_three, returns="array<string>").node
    assert isinstance(node, Fold)
    assert node.folding.add("key", "value", "aggregate") == ("key", "value", "aggregate")
    assert node.folding.initial is list


def test_a_named_store_is_written_to_a_changelog() -> None:
    builder = StreamsBuilder()
    builder.stream("lines").group_by_key().count(store="counts")
    (sink,) = builder.build().sinks
    assert isinstance(sink, Sink)
    assert sink.topic == InternalTopic("counts-changelog")


def test_sessions_need_to_be_merged() -> None:
    with pytest.raises(ValueError, match="say how by merge="):
        grouped().windowed_by(SESSIONS).aggregate(int, lambda *_: 1, returns="int")


def test_sliding_windows_count_by_folding() -> None:
    node = grouped().windowed_by(SLIDING).count().node
    assert isinstance(node, Fold)
    assert node.folding.add("key", "value", 4) == 5
    with pytest.raises(TypeError, match="sliding windows are aggregated by"):
        grouped().windowed_by(SLIDING).sum()


def test_windows_are_kept() -> None:
    windows = TimeWindows.of_size_with_no_grace(5)
    node = grouped().windowed_by(windows).count().node
    assert isinstance(node, Summarize)
    assert node.windows == windows


def test_a_grouped_table_adds_and_subtracts() -> None:
    node = grouped_table().reduce(lambda a, v: (a, v), lambda a, v: [a, v]).node
    assert isinstance(node, Fold)
    assert node.folding.add("key", 2, 1) == (1, 2)
    assert node.folding.subtract is not None
    assert node.folding.subtract("key", 2, 1) == [1, 2]
    made = grouped_table().aggregate(int, lambda *_: 1, lambda *_: 2, returns="int").node
    assert isinstance(made, Fold)
    assert made.folding.returns == "int"
    assert isinstance(grouped_table().count().node, Summarize)


@pytest.mark.parametrize(
    ("name", "words"),
    [("windowed_by", "have no windows.*to_stream"), ("max", "max cannot take a row away")],
)
def test_what_a_grouped_table_cannot_do_is_explained(name: str, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        getattr(grouped_table(), name)
    assert not hasattr(grouped_table(), "nothing")
