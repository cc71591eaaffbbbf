"""What the methods of a table put into the graph."""

from datetime import timedelta

import pytest

from moldau.streams import StreamsBuilder, TimeWindows
from moldau.streams.nodes.nodes import Changes, Filter, MapValues, Suppress, TimeLimit


def test_steps_of_tables_know_that_they_are() -> None:
    table = StreamsBuilder().table("prices").filter("value > 3").filter_not("value > 5")
    table = table.map_values("value + 1")
    mapped = table.node
    assert isinstance(mapped, MapValues)
    (filtered,) = mapped.parents
    assert isinstance(filtered, Filter)
    assert mapped.is_of_table
    assert filtered.is_of_table
    assert filtered.is_negated


def test_a_grouped_table_keeps_its_old_values() -> None:
    grouped = StreamsBuilder().table("prices").group_by("struct(value as key, 1 as value)")
    assert isinstance(grouped.node, Changes)
    assert grouped.node.is_stateful
    assert grouped.node.store is not None


def test_a_suppressed_table_is_final() -> None:
    groups = StreamsBuilder().stream("sales").group_by_key()
    windowed = groups.windowed_by(TimeWindows.of_size_with_no_grace(5)).count()
    table = windowed.suppress_until_window_closes()
    assert isinstance(table.node, Suppress)
    assert table.node.is_final
    with pytest.raises(TypeError, match="others never close"):
        groups.count().suppress_until_window_closes()


def test_changes_are_held_back_for_a_time_or_up_to_a_number() -> None:
    table = StreamsBuilder().table("prices")
    node = table.suppress_until_time_limit(timedelta(seconds=3), max_records=7, name="calm").node
    assert isinstance(node, TimeLimit)
    assert (node.name, node.limit_ms, node.records_max) == ("calm", 3000, 7)
    assert node.is_stateful
    assert not node.is_final
    with pytest.raises(ValueError, match="max_records is at least 1, not 0"):
        table.suppress_until_time_limit(5, max_records=0)
