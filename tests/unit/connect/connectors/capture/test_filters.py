"""Names that are captured."""

import time

import pytest

from moldau.connect.connectors.capture.filters import CaptureFilters
from moldau.connect.connectors.capture.tables import TableName
from moldau.connect.data.schema import INT32, STRING
from moldau.connect.errors import ConfigError


def has(config: dict[str, str], name: str) -> bool:
    schema, _, table = name.partition(".")
    return CaptureFilters(config).has_table(TableName(schema, table))


def test_lists_match_whole_names_whatever_the_case() -> None:
    include = {"table.include.list": r"public\.orders, inv\..*"}
    assert has(include, "public.Orders")
    assert has(include, "inv.anything")
    assert not has(include, "public.orders_old")
    assert not has(include, "xpublic.orders")
    assert not has({"schema.exclude.list": "audit"}, "audit.t")
    assert has({"schema.exclude.list": "audit"}, "other.t")
    assert has({"table.include.list": r"s\.a{1\,3}"}, "s.aaa")


def test_tables_of_the_system_are_never_captured() -> None:
    assert not has({}, "pg_catalog.pg_class")
    assert not has({}, "pg_temp_3.t")
    assert has({}, "public.t")


def test_what_cannot_be_meant_is_refused() -> None:
    with pytest.raises(ConfigError, match="exclude each other"):
        CaptureFilters({"table.include.list": "a", "table.exclude.list": "b"})
    with pytest.raises(ConfigError, match=r"^schema\.include\.list: "):
        CaptureFilters({"schema.include.list": "(a"})
    with pytest.raises(ConfigError, match="is not of the form"):
        CaptureFilters({"message.key.columns": "s.t"})


def test_a_pattern_that_would_take_for_ever_does_not() -> None:
    began = time.process_time()
    assert not has({"table.include.list": r"(a+)+b"}, "a." + "a" * 60)
    assert time.process_time() - began < 5


def test_keys_columns_and_topics() -> None:
    filters = CaptureFilters(
        {
            "topic.prefix": "p",
            "message.key.columns": r"s\.t:b,a; (.*)\.log:id",
            "column.exclude.list": r"s\.t\.secret",
            "snapshot.include.collection.list": r"s\.t",
        }
    )
    assert filters.key_of(TableName("s", "t")) == ["b", "a"]
    assert filters.key_of(TableName("x", "log")) == ["id"]
    assert filters.key_of(TableName("x", "y")) is None
    assert (filters.has_column("s.t.secret"), filters.has_column("s.t.a")) == (False, True)
    assert filters.in_snapshot(TableName("s", "t"))
    assert not filters.in_snapshot(TableName("s", "u"))
    assert filters.topic_of(TableName("s", "größe $")) == "p.s.gr__e__"
    assert CaptureFilters({}).in_snapshot(TableName("s", "u"))


def test_texts_can_be_masked_and_cut() -> None:
    filters = CaptureFilters(
        {
            "column.mask.with.3.chars": r"s\.t\.secret",
            "column.truncate.to.2.chars": r"s\.t\.note",
        }
    )
    mask, cut = filters.mask("s.t.secret", STRING), filters.mask("s.t.note", STRING)
    assert mask is not None
    assert cut is not None
    assert (mask("password"), mask(None)) == ("***", None)
    assert (cut("abc"), cut(None)) == ("ab", None)
    assert filters.mask("s.t.secret", INT32) is None
    assert filters.mask("s.t.id", STRING) is None
