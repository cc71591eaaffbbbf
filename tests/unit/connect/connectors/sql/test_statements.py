"""Statements as databases take them."""

from moldau.connect.connectors.sql.statements import columns_text, insert_text


def test_an_upsert_changes_what_is_no_key() -> None:
    assert columns_text(["a", "b"]) == '"a", "b"'
    assert insert_text("s.t", ["a"], [], "VALUES (?)", "insert") == (
        'INSERT INTO "s"."t" ("a") VALUES (?)'
    )
    assert insert_text("t", ["a", "b"], ["a"], "SELECT 1, 2", "upsert").endswith(
        'SELECT 1, 2 ON CONFLICT ("a") DO UPDATE SET "b" = excluded."b"'
    )
    assert insert_text("t", ["a"], ["a"], "SELECT 1", "upsert").endswith('("a") DO NOTHING')
