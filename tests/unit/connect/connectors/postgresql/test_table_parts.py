"""Parts of a table have each of its rows once, wherever in its blocks these are."""

import random

import pytest

from moldau.connect.connectors.capture.tables import TableName
from moldau.connect.connectors.postgresql import table_parts
from moldau.connect.connectors.postgresql.server import DatabaseServer
from moldau.connect.connectors.postgresql.table_parts import (
    TableCut,
    TablePart,
    TableParts,
    cut_table,
    first_with,
)
from unit.connect.connectors.postgresql.databases import Database

A, B = TableName("public", "a"), TableName("public", "b")
BLOCK = 8192


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_parts, "PART_BYTES", 3 * BLOCK)


def cut(database: Database, table: TableName = A) -> TableCut | None:
    return cut_table(DatabaseServer(database.config()), database.connection, table)


def rows_by_part(database: Database, found: TableCut) -> list[list[object]]:
    parts = [found.part(number) for number in range(len(found))]
    selects = [f"SELECT id FROM {each.table} WHERE {each.condition}" for each in parts]
    return [[row for (row,) in database.rows(each)] for each in selects]


def change(database: Database, chance: random.Random) -> None:
    """Rows come, move within the table, and go, some in long stretches."""
    low = chance.randint(1, 4000)
    high = low + chance.choice([1, 30, 1500])
    database.run(
        chance.choice(
            [
                f"INSERT INTO a SELECT i, repeat('x', 90) FROM generate_series({low}, {high}) i",
                f"DELETE FROM a WHERE id BETWEEN {low} AND {high}",
                f"UPDATE a SET v = repeat('y', {chance.randint(0, 300)}) WHERE id % 7 = {low % 7}",
                "VACUUM a",
            ]
        )
    )


@pytest.mark.needs("postgres")
@pytest.mark.parametrize("seed", range(6))
def test_each_row_is_in_one_part_of_a_random_table(database: Database, seed: int) -> None:
    chance = random.Random(seed)
    partitions = " PARTITION BY HASH (id)" if seed % 2 else ""
    database.run(f"CREATE TABLE a (id integer, v text){partitions}")  # there is no key
    for number in range(3 if partitions else 0):
        values = f"FOR VALUES WITH (MODULUS 3, REMAINDER {number})"
        database.run(f"CREATE TABLE a{number} PARTITION OF a {values}")
    database.run("INSERT INTO a SELECT i, repeat('x', 90) FROM generate_series(1, 3000) i")
    for _ in range(12):
        change(database, chance)
    database.run("INSERT INTO a VALUES (0, '')", "DELETE FROM a WHERE id > 5000")
    found = cut(database)
    assert found is not None
    parts = rows_by_part(database, found)
    assert len(parts) > 1, "a table for this test"
    assert sorted(str(row) for part in parts for row in part) == sorted(
        str(row) for (row,) in database.rows("SELECT id FROM a")
    )
    assert parts[0], "the first part has the first row"
    assert parts[-1], "the last part has the last row"
    ends = [(each.begins, each.ends) for each in map(found.part, range(len(found)))]
    assert ends == [(True, False), *[(False, False)] * (len(ends) - 2), (False, True)]


@pytest.mark.needs("postgres")
def test_what_has_no_rows_has_no_parts(database: Database) -> None:
    database.run(
        "CREATE TABLE a (id integer)",
        "CREATE TABLE child () INHERITS (a)",
        "INSERT INTO child VALUES (1)",
        "CREATE TABLE b (id integer) PARTITION BY RANGE (id)",
    )
    for table in (A, B):
        found = cut(database, table)
        assert found is not None
        assert len(found) == 0
    database.run("INSERT INTO a VALUES (1)", "DELETE FROM ONLY a")
    found = cut(database)
    assert found is not None
    assert len(found) == 0


@pytest.mark.needs("postgres")
def test_large_values_make_smaller_parts(database: Database) -> None:
    database.run("CREATE TABLE a (id integer, v text)")
    database.run("ALTER TABLE a ALTER v SET STORAGE EXTERNAL")
    database.run("INSERT INTO a SELECT i, repeat('x', 100000) FROM generate_series(1, 300) i")
    found = cut(database)
    assert found is not None
    assert found.blocks == 1, "though all rows have room in three blocks"


@pytest.mark.needs("postgres")
def test_a_table_that_is_elsewhere_has_no_parts(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.run(
        "CREATE TABLE a (id integer) PARTITION BY RANGE (id)",
        "CREATE FOREIGN DATA WRAPPER far",
        "CREATE SERVER far FOREIGN DATA WRAPPER far",
        "CREATE FOREIGN TABLE far PARTITION OF a DEFAULT SERVER far",
        "CREATE TABLE b (id integer)",
    )
    assert cut(database) is None
    monkeypatch.setattr(table_parts, "RANGES_SINCE", 10**6)
    assert cut(database, B) is None, "the server is too old"


def test_parts_have_numbers_over_all_tables() -> None:
    parts = TableParts([TableCut(A, 10, 2, 4), TableCut(B, 5, 0, 1)])
    assert [parts.part(number) for number in range(len(parts))] == [
        TablePart(A, 20, 30, begins=True),
        TablePart(A, 30, 40, ends=True),
        TablePart(B, 0, 5, begins=True, ends=True),
    ]
    with pytest.raises(IndexError):
        parts.part(3)


@pytest.mark.parametrize("seed", range(30))
def test_the_first_place_is_found_with_few_questions(seed: int) -> None:
    chance = random.Random(seed)
    count = chance.randint(0, 200)
    places = {each for each in range(count) if chance.random() < chance.choice([0, 0.01, 0.5])}
    asked: list[tuple[int, int]] = []

    def has_rows(start: int, end: int) -> bool:
        asked.append((start, end))
        return any(start <= each < end for each in places)

    assert first_with(count, has_rows) == min(places, default=None)
    assert len(asked) <= 16
    assert all(0 <= start < end <= count for start, end in asked)
