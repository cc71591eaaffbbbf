"""Statements as databases take them."""

import datetime as dt

from moldau.connect.connectors.sql.statements import (
    columns_text,
    insert_text,
    same_key,
    with_format_marks,
    without_zone,
)


def test_an_upsert_changes_what_is_no_key() -> None:
    assert columns_text(["a", "b"]) == '"a", "b"'
    assert insert_text("s.t", ["a"], [], "VALUES (?)", "insert") == (
        'INSERT INTO "s"."t" ("a") VALUES (?)'
    )
    assert insert_text("t", ["a", "b"], ["a"], "SELECT 1, 2", "upsert").endswith(
        'SELECT 1, 2 ON CONFLICT ("a") DO UPDATE SET "b" = excluded."b"'
    )
    assert insert_text("t", ["a"], ["a"], "SELECT 1", "upsert").endswith('("a") DO NOTHING')


def test_rows_of_a_stage_are_those_of_the_same_key() -> None:
    assert same_key(["a", "b"]) == 't."a" = s."a" AND t."b" = s."b"'


def test_times_are_in_utc_where_they_have_no_zone() -> None:
    east = dt.timezone(dt.timedelta(hours=2))
    moment = dt.datetime(2024, 2, 29, 1, 0, tzinfo=east)
    assert without_zone(moment) == dt.datetime(2024, 2, 28, 23, 0)  # noqa: DTZ001
    assert without_zone("a") == "a"


def test_question_marks_are_places_for_values_unless_they_are_quoted() -> None:
    assert with_format_marks("a = ? AND b LIKE '%?' AND \"c?\" ?? 5") == (
        "a = %s AND b LIKE '%%?' AND \"c?\" ? 5"
    )
