"""Queries keep their names while other parts of a topology come and go."""

from moldau.streams import StreamsBuilder
from moldau.streams.compile.naming import LABEL_MAX, in_order, is_given, label_of, unique
from moldau.streams.nodes.nodes import Sink


def sinks(builder: StreamsBuilder) -> list[Sink]:
    return list(builder.build().sinks)


def test_a_query_is_called_after_its_store() -> None:
    builder = StreamsBuilder()
    builder.stream("lines").group_by_key().count(store="counts").to_stream().to("output")
    assert label_of(sinks(builder), is_final=False) == "counts"
    assert label_of(sinks(builder), is_final=True) == "counts-final"


def test_without_a_name_it_is_called_after_its_topics() -> None:
    builder = StreamsBuilder()
    builder.stream("unrelated").to("elsewhere")
    builder.stream("lines").merge(builder.stream("more")).group_by_key().count().to_stream().to("n")
    first, second = sinks(builder)
    assert label_of([first], is_final=False) == "unrelated-to-elsewhere"
    assert label_of([second], is_final=False) == "lines-more-to-n"


def test_a_name_of_a_joining_step_counts_too() -> None:
    builder = StreamsBuilder()
    joined = builder.stream("a").join(builder.table("b"), "left", name="enrich")
    joined.to(lambda key, _value: key)
    assert label_of(sinks(builder), is_final=False) == "enrich"


def test_a_long_or_strange_name_still_is_one_of_a_directory() -> None:
    builder = StreamsBuilder()
    builder.stream("lines").group_by_key().count(store="a/b" * 60).to_stream().to("output")
    label = label_of(sinks(builder), is_final=False)
    assert len(label) == LABEL_MAX
    assert "/" not in label
    builder = StreamsBuilder()
    builder.stream("lines").group_by_key().count(store="a/b").to_stream().to("output")
    assert label_of(sinks(builder), is_final=False).startswith("a_b-")


def test_equal_names_get_numbers() -> None:
    assert list(unique(["a", "b", "a", "a"])) == ["a", "b", "a-2", "a-3"]


def test_names_that_are_made_have_numbers() -> None:
    made = ["KSTREAM-FILTER-0000000003", "KSTREAM-JOIN-0000000003-STORE", None]
    assert [is_given(name) for name in made] == [False, False, False]
    assert is_given("counts-2026")


def test_nodes_are_taken_as_spark_plans_them() -> None:
    builder = StreamsBuilder()
    left, right = builder.table("left"), builder.table("right")
    left.join(right, "left").to_stream().to("output")
    (sink,) = sinks(builder)
    names = [node.name.rpartition("-")[0] for node in in_order([sink])]
    assert names[:3] == ["KSTREAM-SINK", "KTABLE-TOSTREAM", "KTABLE-JOIN"]
    assert in_order([sink])[3:] == (left.node, right.node)
