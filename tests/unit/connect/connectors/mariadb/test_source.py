"""The connector from a server's tables to records."""

import json
import random
import struct
import uuid
from collections.abc import Callable

import pytest

from moldau.connect.connectors.mariadb.source import MariaDbSource, MySqlSource
from moldau.connect.errors import ConfigError, ConnectError
from unit.connect.connectors.mariadb.databases import Database, Reader

pytestmark = pytest.mark.needs("mariadbd")


def test_rows_first_then_changes_without_a_gap(database: Database) -> None:
    database.run(
        "CREATE TABLE t (id int PRIMARY KEY, v varchar(20))", "INSERT INTO t VALUES (1, 'a')"
    )
    reader = Reader(database.config())
    assert reader.step() is not None  # the first rows are read, and the stream is not open yet
    database.run(
        "INSERT INTO t VALUES (2, 'b')",
        "UPDATE t SET v = 'c' WHERE id = 1",
        "UPDATE t SET id = 3 WHERE id = 2",
        "DELETE FROM t WHERE id = 1",
    )
    assert reader.read(8) == [
        ("r", (1,), (1, "a")),
        ("c", (2,), (2, "b")),
        ("u", (1,), (1, "c")),
        *(("d", (2,), None), (None, (2,), None), ("c", (3,), (3, "b"))),
        *(("d", (1,), None), (None, (1,), None)),
    ]
    reader.close()


def test_columns_that_come_go_and_are_called_otherwise(database: Database) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY, v int)")
    reader = Reader(database.config(snapshot_mode="no_data"))
    reader.until(lambda: reader.offset is not None)
    # All of this is in the log before the connector reads any of it.
    database.run(
        "INSERT INTO t VALUES (1, 10)",
        "ALTER TABLE t ADD COLUMN w varchar(5) NOT NULL DEFAULT 'x' FIRST",
        "INSERT INTO t VALUES ('a', 2, 20)",
        "ALTER TABLE t DROP COLUMN v",
        "INSERT INTO t VALUES ('b', 3)",
        "ALTER TABLE t CHANGE COLUMN w name text",
        "UPDATE t SET name = 'c' WHERE id = 3",
        "RENAME TABLE t TO u",
        "INSERT INTO u VALUES ('d', 4)",
    )
    reader.read(5)
    values = [each.value.value for each in reader.records]
    assert [each["after"] for each in values if isinstance(each, dict)] == [
        {"id": 1, "v": 10},
        {"w": "a", "id": 2, "v": 20},
        {"w": "b", "id": 3},
        {"name": "c", "id": 3},
        {"name": "d", "id": 4},
    ]
    assert [each.topic.rpartition(".")[2] for each in reader.records] == [*"tttt", "u"]
    reader.close()


def test_a_restart_goes_on_where_it_stored(database: Database) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY, v int)")
    first = Reader(database.config())
    first.streamed()
    database.run("INSERT INTO t VALUES (1, 1)")
    first.read(1)
    database.run("INSERT INTO t VALUES (2, 2)")
    first.until(lambda: first.step(stores=False) is not None)  # given, and not stored
    first.close()
    again = Reader(database.config(), first.offset)
    assert again.read(1) == [("c", (2,), (2, 2))]
    again.close()


def test_a_transaction_that_is_too_large_is_given_in_parts_and_each_once(
    database: Database,
) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY, v varchar(100))")
    config = database.config(max_queue_size="50")
    reader = Reader(config)
    reader.streamed()
    rows = ", ".join(f"({number}, '{'x' * 90}')" for number in range(500))
    database.run(f"INSERT INTO t VALUES {rows}")
    seen: list[object] = []
    while len(seen) < 500:
        reader.until(lambda: bool(reader.records))  # noqa: B023
        seen += [key for _, key, _ in reader.changes() if key is not None]
        # After each part another reader goes on.
        offset = reader.offset
        reader.close()
        reader = Reader(config, offset)
    reader.close()
    assert seen == [(number,) for number in range(500)]


def columns_of(chance: random.Random) -> dict[str, tuple[str, Callable[[], object]]]:
    """By name: a type, and what makes values of it."""
    return {
        "a": ("bigint", lambda: chance.randint(-(2**63), 2**63 - 1)),
        "b": ("decimal(38,18)", lambda: f"{chance.uniform(-1e15, 1e15):.12f}"),
        "c": ("double", lambda: chance.uniform(-1e300, 1e300)),
        "d": ("float", lambda: chance.uniform(-1e30, 1e30)),
        "e": (
            "varchar(300)",
            lambda: "".join(chance.choices("aäß🙂'\\\n", k=chance.randint(0, 99))),
        ),
        "f": ("time(6)", lambda: f"{chance.randint(-800, 800)}:{chance.randint(0, 59)}:07.123456"),
        "g": ("datetime(2)", lambda: f"{chance.randint(1, 9999):04d}-03-01 04:05:06.78"),
        "h": ("timestamp(4)", lambda: f"20{chance.randint(10, 37)}-03-01 04:05:06.7891"),
        "i": ("bit(13)", lambda: chance.randint(0, 2**13 - 1)),
        "j": ("set('x','y','z')", lambda: chance.randint(0, 7)),
        "k": ("enum('p','q')", lambda: chance.randint(1, 2)),
        "l": ("binary(6)", lambda: chance.choice(["a", "ab\0", ""])),
        "m": ("varchar(20) CHARACTER SET latin1", lambda: chance.choice(["grün", "€", ""])),
        "n": ("enum('grün','b') CHARACTER SET latin1", lambda: chance.randint(1, 2)),
        "o": ("uuid", lambda: str(uuid.UUID(int=chance.getrandbits(128), version=4))),
        "p": ("inet6", lambda: f"2001:db8::{chance.randint(0, 9999)}"),
        "q": ("year", lambda: chance.randint(1901, 2155)),
        "r": ("mediumint unsigned", lambda: chance.randint(0, 2**24 - 1)),
        "s": ("text CHARACTER SET utf16", lambda: chance.choice(["grün", "🙂", ""])),
    }


def document(chance: random.Random, depth: int = 0) -> object:
    """Of JSON."""
    kinds = 7 if depth < 3 else 5
    match chance.randrange(kinds):
        case 0:
            return chance.choice([None, True, False])
        case 1:
            return chance.choice([0, -1, 300, 2**31, -(2**40), 2**63 - 1])
        case 2:
            return chance.choice([0.5, -1.25e100, 3.0, 1e-7])
        case 3 | 4:
            return "".join(chance.choices('aä🙂"\\\n/', k=chance.randint(0, 9)))
        case 5:
            return [document(chance, depth + 1) for _ in range(chance.randint(0, 4))]
        case _:
            names = ("b", "aa", "ä", "")
            return {name: document(chance, depth + 1) for name in names}


POINT = struct.pack("<IBIdd", 0, 1, 1, 1.5, -2.5)


def test_rows_in_the_log_are_those_that_are_read(database: Database) -> None:
    columns = columns_of(chance := random.Random(11))
    if not database.server.is_mariadb:
        columns["o"] = ("json", lambda: json.dumps(document(chance)))
        columns["p"] = ("point", lambda: POINT)
    defined = ", ".join(f"{name} {kind}" for name, (kind, _) in columns.items())
    database.run(f"CREATE TABLE t (id int PRIMARY KEY, {defined})")
    before = Reader(database.config(snapshot_mode="no_data"))
    before.until(lambda: before.offset is not None)
    with database.connection.cursor() as cursor:
        for number in range(40):
            values = [None if chance.random() < 0.1 else make() for _, make in columns.values()]
            marks = ", ".join(["%s"] * (len(values) + 1))
            cursor.execute(f"INSERT INTO t VALUES ({marks})", [number, *values])
    before.read(40)
    after = Reader(database.config(topic_prefix="q"))
    after.read(40)
    logged, read = (
        [each.value.value["after"] for each in reader.records if isinstance(each.value.value, dict)]
        for reader in (before, after)
    )
    assert logged == read
    schemas = [reader.records[0].value.schema for reader in (before, after)]
    fields = [
        [(each.name, each.schema) for each in schema.fields[1].schema.fields]
        for schema in schemas
        if schema is not None
    ]
    assert fields[0] == fields[1]
    before.close()
    after.close()


def test_a_lost_log_fails_and_says_what_to_do(database: Database) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY)", "INSERT INTO t VALUES (1)")
    reader = Reader(database.config())
    reader.streamed()
    reader.close()
    database.run("INSERT INTO t VALUES (2)", "FLUSH BINARY LOGS", "DELETE FROM t WHERE id = 1")
    database.purge()
    lost = Reader(database.config(), reader.offset)
    with pytest.raises(ConfigError, match=r"changes that were not read are lost.*when_needed"):
        lost.step()
    lost.close()
    needed = Reader(database.config(snapshot_mode="when_needed"), reader.offset)
    assert needed.read(1) == [("r", (2,), (2,))]
    database.run("INSERT INTO t VALUES (3)")
    assert needed.read(2)[1:] == [("c", (3,), (3,))]
    needed.close()


def test_a_first_read_that_was_cut_short_is_followed_by_all_changes(database: Database) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY)", "INSERT INTO t VALUES (1), (2), (3)")
    first = Reader(database.config(max_batch_size="1"))
    first.step()
    first.close()
    database.run("DELETE FROM t WHERE id = 1")
    again = Reader(database.config(), first.offset)
    changes = again.read(4)
    assert changes == [
        *(("r", (2,), (2,)), ("r", (3,), (3,))),
        *(("d", (1,), None), (None, (1,), None)),
    ]
    again.close()


def test_modes_of_the_first_read(database: Database) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY)", "INSERT INTO t VALUES (1)")
    only = Reader(database.config(snapshot_mode="initial_only"))
    assert only.read(1) == [("r", (1,), (1,))]
    database.run("INSERT INTO t VALUES (2)")
    assert only.step() is None
    only.close()
    initial = Reader(database.config(), only.offset)
    assert initial.read(1) == [("c", (2,), (2,))]
    initial.close()
    always = Reader(database.config(snapshot_mode="always"), initial.offset)
    assert always.read(2) == [("r", (1,), (1,)), ("r", (2,), (2,))]
    always.close()


def test_the_place_is_stored_while_captured_tables_rest(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moldau.connect.connectors.mariadb.log_reader._STORED_EVERY_S", 0.0)
    database.run("CREATE TABLE t (id int PRIMARY KEY)", "CREATE TABLE other (id int)")
    reader = Reader(database.config(table_include_list=r".*\.t"))
    reader.streamed()
    database.run("INSERT INTO other VALUES (1)")
    reader.until(lambda: reader.offset is not None and reader.offset["gtids"] == database.gtid())
    assert reader.records == []
    reader.close()


def test_heartbeats_and_transactions(database: Database) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY)", "CREATE TABLE beats (n int)")
    database.run("INSERT INTO beats VALUES (0)")
    config = database.config(
        heartbeat_interval_ms="1",
        provide_transaction_metadata="true",
        heartbeat_action_query=f"UPDATE {database.name}.beats SET n = n + 1",
        table_include_list=r".*\.t",
    )
    reader = Reader(config)
    reader.streamed()
    database.run("INSERT INTO t VALUES (1), (2)")
    reader.until(lambda: any(each.topic == "p.transaction" for each in reader.records))
    topics = {each.topic for each in reader.records}
    assert topics == {"__debezium-heartbeat.p", "p.transaction", f"p.{database.name}.t"}
    found = [each.value.value for each in reader.records if each.topic == "p.transaction"]
    begun, ended = (each for each in found if isinstance(each, dict))
    assert (begun["status"], ended["status"], ended["event_count"]) == ("BEGIN", "END", 2)
    assert begun["id"] == ended["id"]
    assert int(str(database.rows("SELECT n FROM beats")[0][0])) > 0
    reader.close()


def test_problems_are_told_by_their_settings(database: Database) -> None:
    config = database.config()
    assert MariaDbSource.problems(config) == {}
    wrong = MariaDbSource.problems({**config, "database.port": "1"})
    assert "Can't connect" in wrong["database.hostname"]
    both = {"database.include.list": "a", "database.exclude.list": "b"}
    assert "database.include.list" in MariaDbSource.problems({**config, **both})
    assert "converters" in MariaDbSource.problems({**config, "converters": "x"})
    source = MySqlSource(config)
    source.check_offset({"server": "p"}, {"file": "f", "pos": 4})
    for partition, offset in (({"server": "x"}, None), ({"server": "p"}, {"lsn": 5})):
        with pytest.raises(ConnectError):
            source.check_offset(partition, offset)
    source.close()
