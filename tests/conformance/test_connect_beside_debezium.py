"""Random transactions on one database give Debezium's records and ours, one by one the same.

Debezium 3.6.3 in Apache's worker and our capture follow the same tables, by slots of their own,
into topics of one broker. After each run of transactions, records are compared with their schemas
and headers; and the tables that the records tell are compared with the database.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import psycopg
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from conformance.apache.broker import free_port
from conformance.apache.connect import Worker, worker
from conformance.apache.marks import needs_apache
from conformance.our_broker import our_broker
from moldau.client.blocking.consumer import Consumer
from postgres import running_postgres
from unit.connect.started import StartedWorker, started_worker

pytestmark = [
    needs_apache("connect-3.9", "debezium-3.6"),
    pytest.mark.needs("postgres"),
    pytest.mark.timeout(600),
]
TABLES = ("plain", "whole", "pairs")
_JSON = "org.apache.kafka.connect.json.JsonConverter"
_CONTEXT = "__debezium.context."
_CLOCKS = ("ts_ms", "ts_us", "ts_ns")
_COLUMNS = (
    "name text NOT NULL DEFAULT 'anon', amount numeric(12, 3), at timestamptz, doc jsonb, "
    "raw bytea, words text[], big text"
)
_MAKE = (
    f"CREATE TABLE plain (id integer PRIMARY KEY, {_COLUMNS})",
    f"CREATE TABLE whole (id integer PRIMARY KEY, {_COLUMNS})",
    "ALTER TABLE whole REPLICA IDENTITY FULL",
    f"CREATE TABLE pairs (part smallint DEFAULT 0, id integer, {_COLUMNS}, PRIMARY KEY (id, part))",
    # Values that are kept aside, also where they could be compressed.
    *(f"ALTER TABLE {table} ALTER COLUMN big SET STORAGE EXTERNAL" for table in TABLES),
)
_INSERT = "INSERT INTO {} ({}) VALUES ({}) ON CONFLICT DO NOTHING"
_UPDATE = "UPDATE {} SET {} WHERE id = %(id)s"
_MOVE = (
    "UPDATE {0} SET id = %(new)s "
    "WHERE id = %(id)s AND NOT EXISTS (SELECT 1 FROM {0} WHERE id = %(new)s)"
)
_DELETE = "DELETE FROM {} WHERE id = %(id)s"
Json = dict[str, object]
Step = tuple[str, dict[str, object]]
Transaction = tuple[list[Step], bool]
"""What is done, and whether it is committed."""

KEYS = st.integers(1, 4)
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8) | (
    # What a parser of texts may take for something else.
    st.sampled_from(("", " ", "NULL", "\\N", '{"a,b"}', "\ta\n", "\u00a0a\x85", "\x1da", "'"))
)
VALUES: dict[str, st.SearchStrategy[object]] = {
    "name": TEXTS,
    "amount": st.none() | st.decimals(-(10**8), 10**8, places=3),
    "at": st.none() | st.datetimes().map(lambda at: f"{at.isoformat()}+00"),
    "doc": st.none()
    | st.dictionaries(st.sampled_from("ab"), TEXTS | st.integers()).map(json.dumps),
    "raw": st.none() | st.binary(max_size=6),
    "words": st.none() | st.lists(st.none() | TEXTS, max_size=3),
    "big": st.none() | st.sampled_from("xyz"),
}
# So long that it is kept aside.
_PLACES = {name: f"%({name})s" for name in ("id", *VALUES)} | {"big": "repeat(%(big)s, 9000)"}


def _values() -> st.SearchStrategy[dict[str, object]]:
    return st.fixed_dictionaries({}, optional=VALUES)


@st.composite
def steps(draw: st.DrawFn) -> Step:
    """A statement about a row of a table, which may not be there."""
    table, key = draw(st.sampled_from(TABLES)), draw(KEYS)
    match draw(st.sampled_from(("insert", "insert", "update", "update", "move", "delete"))):
        case "insert":
            row = {"id": key, **draw(_values())}
            places = ", ".join(_PLACES[name] for name in row)
            return _INSERT.format(table, ", ".join(row), places), row
        case "update":
            changed = draw(_values().filter(bool))
            sets = ", ".join(f"{name} = {_PLACES[name]}" for name in changed)
            return _UPDATE.format(table, sets), {"id": key, **changed}
        case "move":
            return _MOVE.format(table), {"id": key, "new": draw(KEYS)}
        case _:
            return _DELETE.format(table), {"id": key}


@st.composite
def days(draw: st.DrawFn) -> list[Transaction]:
    """Transactions one after the other; one table may change: the catalogue has its end alone."""
    done = draw(st.lists(st.lists(steps(), min_size=1, max_size=8), min_size=2, max_size=6))
    if draw(st.booleans()):
        table, kind = draw(st.sampled_from(TABLES)), draw(st.sampled_from(("text", "bigint")))
        changed = draw(st.sampled_from(done))
        change = "DROP COLUMN IF EXISTS extra, ADD COLUMN extra"
        step: Step = (f"ALTER TABLE {table} {change} {kind} DEFAULT 7", {})
        changed.insert(draw(st.integers(0, len(changed))), step)
    return [(each, draw(st.integers(0, 5)) > 0) for each in done]


@dataclass(slots=True)
class Told:
    """What the topics of one of the two have, read by one consumer."""

    prefix: str
    consumer: Consumer[bytes, bytes]
    tables: dict[str, dict[str, Json]] = field(
        default_factory=lambda: {table: {} for table in TABLES}
    )
    moved: dict[str, Json] = field(default_factory=dict)
    """Rows whose key has changed, by table and new key, until that is read."""

    def next_records(self, mark: int) -> dict[str, list[object]]:
        """By table, up to the one with this mark."""
        found: dict[str, list[object]] = {table: [] for table in TABLES}
        waiting = set(TABLES)
        while waiting:
            for each in self.consumer.poll(0.2):
                table = each.topic.rpartition(".")[2]
                value = None if each.value is None else json.loads(each.value)
                key = json.loads(each.key or b"")["payload"]
                headers = [pair for pair in each.headers if not pair[0].startswith(_CONTEXT)]
                found[table].append(self._comparable(each.key or b"", headers, value))
                if value is not None:
                    self._apply(table, key, value["payload"], dict(headers))
                    if key["id"] == mark and value["payload"]["op"] == "c":
                        waiting.discard(table)
        return found

    def _comparable(self, key: bytes, headers: object, value: object) -> object:
        """Without names and times of its own."""
        if isinstance(value, dict):
            payload = value["payload"]
            for name in _CLOCKS:
                assert isinstance(payload.pop(name), int)
            assert payload["source"].pop("version")
        told = {"key": json.loads(key), "headers": repr(headers), "value": value}
        return json.loads(re.sub(rf"\b{self.prefix}\b", "PREFIX", json.dumps(told)))

    def _apply(
        self, table: str, key: Json, payload: Json, headers: Mapping[str, bytes | None]
    ) -> None:
        rows, place = self.tables[table], _place(key)
        new, old = (headers.get(f"__debezium.{name}key") for name in ("new", "old"))
        row = payload["after"]
        if row is None:
            gone = rows.pop(place)
            if new is not None:
                self.moved[table + _place(json.loads(new))] = gone
            return
        assert isinstance(row, dict)
        # A value kept aside that was not changed is not in the log, but in the row before.
        before = rows.get(place, {}) if old is None else self.moved.pop(table + place)
        kept = {name for name, each in row.items() if each == "__debezium_unavailable_value"}
        rows[place] = {**row, **{name: before[name] for name in kept}}


def _place(key: Json) -> str:
    return json.dumps(key, sort_keys=True)


class Race:
    """The database, and both who follow it; no dataclass, which Hypothesis would show in full."""

    def __init__(
        self, database: "psycopg.Connection[tuple[object, ...]]", theirs: Told, ours: Told
    ) -> None:
        self.database = database
        self.theirs = theirs
        self.ours = ours
        self.mark = 100

    def run(self, done: list[Transaction]) -> None:
        for each, is_committed in done:
            with self.database.transaction(force_rollback=not is_committed):
                for statement, values in each:
                    self.database.execute(statement.encode(), values)
        self.mark += 1
        for table in TABLES:
            self.database.execute(f"INSERT INTO {table} (id) VALUES ({self.mark})".encode())


def differences(theirs: object, ours: object, place: str = "") -> list[tuple[str, object, object]]:
    """Where two records are not the same, also in the order of their fields."""
    if isinstance(theirs, dict) and isinstance(ours, dict) and list(theirs) == list(ours):
        pairs = [(f"{place}.{name}", theirs[name], ours[name]) for name in theirs]
    elif isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        pairs = [
            (f"{place}[{at}]", *pair) for at, pair in enumerate(zip(theirs, ours, strict=True))
        ]
    else:
        return [] if type(theirs) is type(ours) and theirs == ours else [(place, theirs, ours)]
    return [each for at, one, other in pairs for each in differences(one, other, at)]


def capture(prefix: str, port: int) -> dict[str, str]:
    return {
        "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
        "plugin.name": "pgoutput",
        "database.hostname": "127.0.0.1",
        "database.port": str(port),
        "database.user": "postgres",
        "database.dbname": "postgres",
        "topic.prefix": prefix,
        "slot.name": prefix,
        "publication.name": prefix,
        "publication.autocreate.mode": "filtered",
        "table.include.list": ",".join(rf"public\.{table}" for table in TABLES),
        "provide.transaction.metadata": "true",
        "snapshot.max.threads": "2",
        "poll.interval.ms": "20",
        "key.converter": _JSON,
        "value.converter": _JSON,
    }


def told(connect: Worker | StartedWorker, servers: str, prefix: str, port: int) -> Told:
    """A connector that has read the tables; they have a row with the mark 100 each."""
    connect.put(prefix, capture(prefix, port))
    consumer = Consumer[bytes, bytes](
        bootstrap_servers=servers,
        auto_offset_reset="earliest",
        isolation_level="read_committed",
        metadata_max_age_ms=200,
    )
    consumer.assign([(f"{prefix}.public.{table}", 0) for table in TABLES])
    found, seen = Told(prefix, consumer), set[str]()
    while seen != set(TABLES):
        seen |= {each.topic.rpartition(".")[2] for each in consumer.poll(0.2)}
    return found


@pytest.fixture(scope="module")
def race(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Race]:
    directory = tmp_path_factory.mktemp("race")
    port = free_port()
    server = {"wal_level": "logical", "listen_addresses": "127.0.0.1", "port": str(port)}
    quick = {"group.initial.rebalance.delay.ms": "0"}
    topics = {f"{each}.storage.topic": f"our-{each}" for each in ("config", "offset", "status")}
    with (
        running_postgres(**server) as url,
        psycopg.connect(url, autocommit=True) as database,
        our_broker(directory / "broker", quick) as broker,
        worker(directory / "apache", broker.bootstrap, jars=["debezium-3.6"]) as apache,
        started_worker(broker.bootstrap, topics) as moldau,
    ):
        for statement in _MAKE:
            database.execute(statement.encode())
        for table in TABLES:
            database.execute(f"INSERT INTO {table} (id) VALUES (100)".encode())
        theirs = told(apache, broker.bootstrap, "theirs", port)
        ours = told(moldau, broker.bootstrap, "ours", port)
        found = Race(database, theirs, ours)
        found.run([])
        for each in (theirs, ours):
            # Which transaction was before the first one depends on when they began.
            each.next_records(found.mark)
        yield found
        for each in (theirs, ours):
            each.consumer.close()


@settings(
    max_examples=40,
    deadline=None,
    # Nothing is made smaller: the tables are not as they were.
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(done=days())
def test_both_tell_the_same(race: Race, done: list[Transaction]) -> None:
    race.run(done)
    theirs, ours = (each.next_records(race.mark) for each in (race.theirs, race.ours))
    for table in TABLES:
        assert differences(theirs[table], ours[table]) == []
    assert race.ours.tables == race.theirs.tables
    for table in TABLES:
        rows = race.database.execute(f"SELECT id, name, big FROM {table}".encode()).fetchall()
        told_rows = [
            (row["id"], row["name"], row["big"])
            for row in race.ours.tables[table].values()
            if row["id"] != 100
        ]
        assert sorted(told_rows, key=repr) == sorted(
            (row for row in rows if row[0] != 100), key=repr
        )
