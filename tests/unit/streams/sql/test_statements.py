"""Statements are told apart; what is ours is read, all else is Spark's."""

import pytest

from moldau.streams.sql.statements import (
    BadStatement,
    CreateStream,
    DeclareStream,
    DropStream,
    ShowNames,
    SparkStatement,
    Statement,
    WatchQuery,
    parsed,
    settings_of,
    split,
)


@pytest.mark.parametrize(
    ("text", "statements", "begun"),
    [
        ("select 1; select 2", ["select 1"], "select 2"),
        ("select ';' ; ;", ["select ';'"], ""),
        ("select 'it''s; so'; x", ["select 'it''s; so'"], "x"),
        ('select "a;b", `c;d`;', ['select "a;b", `c;d`'], ""),
        ("a -- not; this\nb; /* nor; this */ c;", ["a  \nb", "c"], ""),
        ("select 'not closed; ", [], "select 'not closed;"),
        ("select 4 - 1 / 2;", ["select 4 - 1 / 2"], ""),
        ("", [], ""),
    ],
)
def test_semicolons_end_statements_but_in_texts_and_comments(
    text: str, statements: list[str], begun: str
) -> None:
    assert split(text) == (statements, begun)


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("select * from orders", SparkStatement("select * from orders")),
        ("SHOW TOPICS", ShowNames("topics")),
        ("show tables", ShowNames("topics")),
        ("list streams", ShowNames("streams")),
        ("drop stream totals", DropStream("totals")),
        ("TERMINATE `a-b`", DropStream("a-b")),
        ("select a from b emit changes", WatchQuery("select a from b")),
        ("create stream t as select 1", CreateStream("t", "select 1")),
        (
            (
                "CREATE STREAM IF NOT EXISTS `t-1` WITH (key = 'user', partitions=3)\n"
                "AS SELECT (1) EMIT CHANGES"
            ),
            CreateStream("t-1", "SELECT (1)", {"key": "user", "partitions": "3"}),
        ),
        (
            "create stream o (id bigint, p decimal(10, 2)) with (kafka_topic='orders')",
            DeclareStream("o", "id bigint, p decimal(10, 2)", {"kafka_topic": "orders"}),
        ),
        ("create stream o (id int)", DeclareStream("o", "id int")),
        ("create table x (id int)", SparkStatement("create table x (id int)")),
    ],
)
def test_a_statement_is_ours_or_sparks(text: str, statement: Statement) -> None:
    assert parsed(text) == statement


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("create stream t", "AS SELECT"),
        ("create stream t (id int) as select 1", "AS SELECT"),
        ("create stream t (id int", "a bracket is not closed"),
        ("create stream t with (key) as select 1", "name = 'value'"),
    ],
)
def test_a_statement_that_is_not_whole_is_explained(text: str, words: str) -> None:
    with pytest.raises(BadStatement, match=words):
        parsed(text)


def test_settings_have_texts_and_words() -> None:
    assert settings_of("A = 'it''s, so', 'b.c' = x-1,") == {"a": "it's, so", "b.c": "x-1"}
