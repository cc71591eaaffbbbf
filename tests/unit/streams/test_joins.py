"""Streams and tables are joined by methods, and what makes no sense is said at once."""

import pytest

from moldau.streams import JoinWindows, StreamsBuilder
from moldau.streams.nodes.joins import (
    ForeignKeyJoin,
    GlobalJoin,
    StreamJoin,
    StreamTableJoin,
    TableJoin,
)

WITHIN = JoinWindows.of_time_difference_with_no_grace(10)


def test_what_is_joined_decides_how() -> None:
    builder = StreamsBuilder()
    orders, payments = builder.stream("orders"), builder.stream("payments")
    users, countries = builder.table("users"), builder.table("countries")
    rates = builder.global_table("rates")
    joined = [
        orders.join(payments, "left", WITHIN).node,
        orders.outer_join(payments, "left", WITHIN, name="all").node,
        orders.left_join(users, "left").node,
        orders.join(rates, "right", lookup="value").node,
        users.outer_join(countries, "left").node,
        users.left_join(countries, "left", foreign_key="value").node,
    ]
    assert [type(node) for node in joined] == [
        StreamJoin,
        StreamJoin,
        StreamTableJoin,
        GlobalJoin,
        TableJoin,
        ForeignKeyJoin,
    ]
    assert [node.name.rstrip("0123456789") for node in joined] == [
        "KSTREAM-JOIN-",
        "all",
        "KSTREAM-LEFTJOIN-",
        "KSTREAM-JOIN-",
        "KTABLE-OUTERJOIN-",
        "KTABLE-FK-LEFTJOIN-",
    ]
    assert joined[2].parents == (orders.node, users.node)


def test_streams_need_a_window() -> None:
    builder = StreamsBuilder()
    with pytest.raises(ValueError, match="within="):
        builder.stream("a").join(builder.stream("b"), "left")


def test_a_global_table_needs_a_lookup() -> None:
    builder = StreamsBuilder()
    with pytest.raises(ValueError, match="lookup="):
        builder.stream("a").join(builder.global_table("b"), "left")


def test_what_a_join_cannot_use_is_refused() -> None:
    builder = StreamsBuilder()
    stream, other, table = builder.stream("a"), builder.stream("b"), builder.table("c")
    everywhere = builder.global_table("d")
    with pytest.raises(ValueError, match="leave `within` out"):
        stream.join(table, "left", WITHIN)
    with pytest.raises(ValueError, match="leave `within` out"):
        stream.join(everywhere, "left", WITHIN)
    with pytest.raises(ValueError, match="leave `lookup` out"):
        stream.join(table, "left", lookup="value")
    with pytest.raises(ValueError, match="leave `lookup` out"):
        stream.join(other, "left", WITHIN, lookup="value")
