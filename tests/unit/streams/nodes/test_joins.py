"""What joins are to those who plan queries."""

from moldau.streams.nodes.joins import (
    ForeignKeyJoin,
    GlobalJoin,
    StreamJoin,
    StreamTableJoin,
    TableJoin,
)


def test_all_but_global_joins_keep_something() -> None:
    kinds = (StreamJoin, StreamTableJoin, TableJoin, ForeignKeyJoin, GlobalJoin)
    assert [kind.is_stateful for kind in kinds] == [True, True, True, True, False]


def test_only_joins_of_streams_wait_for_time_to_pass() -> None:
    kinds = (StreamJoin, StreamTableJoin, TableJoin, ForeignKeyJoin, GlobalJoin)
    assert [kind.is_final for kind in kinds] == [True, False, False, False, False]
