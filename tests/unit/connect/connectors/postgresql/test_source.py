"""A connector reads tables and their changes, and goes on after what may happen to it."""

import logging
import time
from collections.abc import Iterator
from contextlib import ExitStack

import psycopg
import pytest

from moldau.connect.connector import Offset
from moldau.connect.connectors.postgresql.source import PostgresSource
from moldau.connect.data.record import ConnectRecord
from moldau.connect.errors import ConfigError, ConnectError, RetriableConnectError
from moldau.connect.worker.plugins import Plugins
from unit.connect.connectors.postgresql.databases import Database, Reader

pytestmark = pytest.mark.needs("postgres")
TABLE = "CREATE TABLE t (id integer PRIMARY KEY, v text)"


@pytest.fixture
def open_readers() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def reader(database: Database, open_readers: ExitStack) -> "Begin":
    return Begin(database, open_readers)


class Begin:
    """Makes readers that are closed with the test."""

    def __init__(self, database: Database, readers: ExitStack) -> None:
        self._database = database
        self._readers = readers

    def __call__(self, start: Offset | None = None, /, **changed: str) -> Reader:
        found = Reader(self._database.config(**changed), start)
        self._readers.callback(found.close)
        return found


def source_of(record: ConnectRecord) -> dict[str, object]:
    assert isinstance(record.value.value, dict)
    found = record.value.value["source"]
    assert isinstance(found, dict)
    return found


def test_it_is_found_by_its_names() -> None:
    for name in ("io.debezium.connector.postgresql.PostgresConnector", "Postgres"):
        assert Plugins().find(name).connector is PostgresSource


def test_rows_come_first_then_changes_without_a_gap(database: Database, reader: Begin) -> None:
    database.run(TABLE, "INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    one = reader()
    assert one.step() is not None  # the slot is there: what follows is streamed
    database.run(
        "INSERT INTO t VALUES (3, 'c')",
        "UPDATE t SET v = 'x' WHERE id = 1",
        "UPDATE t SET id = 4 WHERE id = 2",
        "DELETE FROM t WHERE id = 3",
    )
    assert one.read(9) == [
        ("r", (1,), (1, "a")),
        ("r", (2,), (2, "b")),
        ("c", (3,), (3, "c")),
        ("u", (1,), (1, "x")),
        ("d", (2,), None),
        (None, (2,), None),
        ("c", (4,), (4, "b")),
        ("d", (3,), None),
        (None, (3,), None),
    ]
    database.run("ALTER TABLE t ADD COLUMN w integer DEFAULT 7", "INSERT INTO t VALUES (5)")
    assert one.read(10)[9] == ("c", (5,), (5, None, 7))
    database.run("ALTER TABLE t DROP COLUMN v", "ALTER TABLE t RENAME TO u")
    database.run("INSERT INTO u VALUES (6, 8)")
    assert one.read(11)[10] == ("c", (6,), (6, 8))
    assert one.records[10].topic == "p.public.u"


def test_a_reader_goes_on_where_an_offset_says(database: Database, reader: Begin) -> None:
    database.run(TABLE)
    first = reader()
    first.step()
    for number in range(1, 4):
        database.run(f"INSERT INTO t VALUES ({number}, 'a')")
    first.read(3)
    database.run("INSERT INTO t VALUES (4, 'a')")
    first.until(lambda: first.step(stores=False) is not None)  # read, and never stored
    first.close()
    second = reader(first.offset)
    assert second.read(1) == [("c", (4,), (4, "a"))]


def test_a_transaction_that_is_too_large_comes_in_parts_and_is_still_read_once(
    database: Database, reader: Begin
) -> None:
    database.run(TABLE)
    small = {"max_queue_size": "100", "provide_transaction_metadata": "true"}
    first = reader(**small)
    first.step()
    database.run("INSERT INTO t SELECT i, 'a' FROM generate_series(1, 250) i")
    first.until(lambda: len(first.records) == 100)
    first.close()
    second = reader(first.offset, **small)
    second.until(lambda: second.records[-1:] != [] and not _is_row(second.records[-1]))
    assert second.sizes == [100, 52]
    rows = [each.key.value for each in first.records + second.records if _is_row(each)]
    assert rows == [{"id": number} for number in range(1, 251)]
    end = second.records[-1].value.value
    assert isinstance(end, dict)
    assert (end["status"], end["event_count"]) == ("END", 250)


def _is_row(record: ConnectRecord) -> bool:
    return record.topic == "p.public.t"


def test_an_offset_of_java_is_taken_over(database: Database, reader: Begin) -> None:
    database.run(TABLE)
    first = reader()
    first.step()
    database.run("INSERT INTO t VALUES (1, 'before')")
    first.read(1)
    with database.connection.transaction():
        for number in (2, 3, 4):
            database.run(f"INSERT INTO t VALUES ({number}, 'within')")
    found = None
    while found is None:
        found = first.step(stores=False)  # read, and neither stored nor confirmed
    first.close()
    assert first.offset is not None
    source = source_of(found[1])
    # As PostgresOffsetContext writes it after the second row of the transaction.
    java = {
        "transaction_id": None,
        "lsn_proc": source["lsn"],
        "messageType": "INSERT",
        "lsn_commit": first.offset["lsn_commit"],
        "lsn": source["lsn"],
        "txId": source["txId"],
        "ts_usec": source["ts_us"],
    }
    assert reader(java).read(1) == [("c", (4,), (4, "within"))]


def test_what_an_older_slot_has_and_the_snapshot_as_well_comes_once(
    database: Database, reader: Begin
) -> None:
    database.run(TABLE, "CREATE PUBLICATION dbz_publication FOR ALL TABLES")
    database.run(
        f"SELECT pg_create_logical_replication_slot('slot_{database.name}', 'pgoutput')",
        "INSERT INTO t VALUES (1, 'a'), (2, 'b')",
        "DELETE FROM t WHERE id = 2",
    )
    with psycopg.connect(database.url) as other:
        other.execute("INSERT INTO t VALUES (3, 'open')")
        one = reader()
        one.step()
        other.commit()
    database.run("INSERT INTO t VALUES (4, 'later')")
    assert one.read(3) == [
        ("r", (1,), (1, "a")),
        ("c", (3,), (3, "open")),
        ("c", (4,), (4, "later")),
    ]
    database.run("SELECT pg_switch_wal()", "INSERT INTO t VALUES (5, 'last')")
    assert one.read(4)[3] == ("c", (5,), (5, "last"))


def test_rows_that_go_while_a_snapshot_is_cut_short_do_not_stay(
    database: Database, reader: Begin
) -> None:
    database.run(TABLE, "INSERT INTO t SELECT i, 'a' FROM generate_series(1, 30) i")
    first = reader(max_batch_size="10")
    first.step()
    assert first.offset is not None
    assert first.offset["snapshot_completed"] is False
    first.close()
    database.run("DELETE FROM t WHERE id < 6", "UPDATE t SET v = 'b' WHERE id = 7")
    second = reader(first.offset)
    database.run("INSERT INTO t VALUES (31, 'c')")
    second.records = first.records
    second.until(lambda: second.image("p.public.t").keys() == {(i,) for i in range(6, 32)})
    assert second.image("p.public.t")[(7,)] == {"id": 7, "v": "b"}


def test_a_slot_that_is_gone_fails_and_says_what_to_do(database: Database, reader: Begin) -> None:
    database.run(TABLE, "INSERT INTO t VALUES (1, 'a')")
    first = reader()
    first.read(1)
    first.step()  # the stream is open
    first.close()
    database.drop_slot()
    database.run("INSERT INTO t VALUES (2, 'unseen')")
    with pytest.raises(ConfigError, match=r"is gone.*DELETE its offsets.*when_needed"):
        reader(first.offset).step()
    again = reader(first.offset, snapshot_mode="when_needed")
    assert again.read(2) == [("r", (1,), (1, "a")), ("r", (2,), (2, "unseen"))]


def test_a_slot_that_the_server_gave_up_fails_and_can_be_made_anew(
    database: Database, reader: Begin
) -> None:
    database.run(TABLE, "INSERT INTO t VALUES (1, 'a')")
    first = reader()
    first.read(1)
    first.step()  # the stream is open
    first.close()
    status = f"SELECT wal_status FROM pg_replication_slots WHERE slot_name = 'slot_{database.name}'"
    deadline = time.monotonic() + 60
    database.run("ALTER SYSTEM SET max_slot_wal_keep_size = '1MB'", "SELECT pg_reload_conf()")
    try:
        while database.rows(status) != [("lost",)]:
            assert time.monotonic() < deadline, database.rows(status)
            database.run("UPDATE t SET v = v", "SELECT pg_switch_wal()", "CHECKPOINT")
    finally:
        database.run("ALTER SYSTEM RESET max_slot_wal_keep_size", "SELECT pg_reload_conf()")
    with pytest.raises(
        ConfigError, match=r"is lost .*threw away changes.*pg_drop_replication_slot"
    ):
        reader(first.offset).step()
    again = reader(first.offset, snapshot_mode="when_needed")
    assert again.read(1) == [("r", (1,), (1, "a"))]
    database.run("INSERT INTO t VALUES (2, 'b')")
    assert again.read(2)[1] == ("c", (2,), (2, "b"))


def test_a_slot_in_use_is_waited_for_and_then_told(
    database: Database, reader: Begin, caplog: pytest.LogCaptureFixture
) -> None:
    database.run(TABLE)
    holder = reader()
    holder.until(lambda: holder.source._reader is not None)
    waiting = {"slot_max_retries": "1", "slot_retry_delay_ms": "20"}
    with caplog.at_level(logging.WARNING):
        other = reader(holder.offset, **waiting)
        with pytest.raises(
            RetriableConnectError, match=r"is active for PID \d+: another connector"
        ):
            other.until(lambda: False)
    assert "attempt 1 of 1 in 0.02 s" in caplog.text
    patient = reader(holder.offset)
    assert patient.step() is None
    holder.close()
    assert isinstance(patient.source, PostgresSource)
    patient.source._attempt_at_s = 0.0
    database.run("INSERT INTO t VALUES (1, 'a')")
    assert patient.read(1) == [("c", (1,), (1, "a"))]


def test_a_slot_does_not_keep_the_log_of_what_is_not_captured(
    database: Database, reader: Begin
) -> None:
    database.run(TABLE, "CREATE TABLE busy (i integer)")
    one = reader(publication_autocreate_mode="filtered", table_include_list=r"public\.t")
    one.step()
    database.run("INSERT INTO busy SELECT generate_series(1, 1000)")
    reached = database.lsn()
    one.until(lambda: int(str(database.slot()[1])) >= reached)
    assert one.records == []


def test_what_the_slot_keeps_is_measured(database: Database, reader: Begin) -> None:
    database.run(TABLE)
    one = reader()
    assert one.source.measurements() == {}
    one.until(lambda: one.source.measurements() != {})
    found = one.source.measurements()
    assert found["slot_wal_status"] == 0
    assert 0 <= found["slot_retained_bytes"] < 2**30


def test_what_is_not_stored_is_not_confirmed(database: Database, reader: Begin) -> None:
    database.run(TABLE, "CREATE TABLE busy (i integer)")
    captured = {"publication_autocreate_mode": "filtered", "table_include_list": r"public\.t"}
    one = reader(**captured)
    one.until(lambda: one.source._reader is not None)
    before = database.lsn()
    database.run("INSERT INTO t VALUES (1, 'a')")
    one.until(lambda: one.step(stores=False) is not None)
    database.run("INSERT INTO busy SELECT generate_series(1, 1000)")
    # Signs of life of the server bring its place, which is beyond the change, many times.
    confirmed = [one.step() or int(str(database.slot()[1])) for _ in range(100)]
    assert max(confirmed) <= before  # type: ignore[operator]
    one.close()
    assert reader(one.offset, **captured).read(1) == [("c", (1,), (1, "a"))]


@pytest.mark.parametrize("mode", ["initial_only", "no_data", "always"])
def test_modes_of_the_snapshot(database: Database, reader: Begin, mode: str) -> None:
    database.run(TABLE, "INSERT INTO t VALUES (1, 'a')")
    first = reader(snapshot_mode=mode)
    first.step()
    database.run("INSERT INTO t VALUES (2, 'b')")
    rows, change = ("r", (1,), (1, "a")), ("c", (2,), (2, "b"))
    if mode == "initial_only":
        assert [first.step() for _ in range(3)] == [None] * 3
        assert first.changes() == [rows]
        assert reader(first.offset, snapshot_mode=mode).step() is None
        slots = f"SELECT count(*) FROM pg_replication_slots WHERE database = '{database.name}'"
        assert database.rows(slots) == [(0,)]
        return
    assert first.read(2 - (mode == "no_data"))[-1] == change
    assert (rows in first.changes()) == (mode == "always")
    first.close()
    second = reader(first.offset, snapshot_mode=mode)
    second.step()
    database.run("INSERT INTO t VALUES (3, 'c')")
    found = second.read(3 if mode == "always" else 1)
    assert found[-1] == ("c", (3,), (3, "c"))
    assert [each[0] for each in found[:-1]] == (["r", "r"] if mode == "always" else [])


def test_heartbeats_come_while_nothing_happens(database: Database, reader: Begin) -> None:
    database.run(TABLE, "CREATE TABLE beats (n integer)", "INSERT INTO t VALUES (1, 'a')")
    one = reader(
        heartbeat_interval_ms="20",
        heartbeat_action_query="INSERT INTO beats VALUES (1)",
        table_include_list=r"public\.t",
    )
    one.until(lambda: [each.topic for each in one.records].count("__debezium-heartbeat.p") >= 2)
    assert database.rows("SELECT count(*) > 1 FROM beats") == [(True,)]
    one.close()
    database.run("INSERT INTO t VALUES (2, 'b')")
    again = reader(one.offset, table_include_list=r"public\.t")
    assert again.read(1) == [("c", (2,), (2, "b"))]


def test_a_server_that_goes_away_is_tried_again(database: Database, reader: Begin) -> None:
    database.run(TABLE)
    one = reader()
    one.until(lambda: one.source._reader is not None)
    database.run(
        "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots "
        f"WHERE slot_name = 'slot_{database.name}'"
    )
    with pytest.raises(RetriableConnectError, match="the stream of the log has ended"):
        one.until(lambda: False)
    began = time.monotonic()
    one.close()
    assert time.monotonic() - began < 10


def test_offsets_are_checked(database: Database) -> None:
    source = PostgresSource(database.config())
    source.check_offset({"server": "p"}, {"lsn": 5})
    source.check_offset({"server": "p"}, None)
    with pytest.raises(ConnectError, match="the only partition is"):
        source.check_offset({"server": "q"}, {"lsn": 5})
    with pytest.raises(ConnectError, match="no offset of this connector"):
        source.check_offset({"server": "p"}, {"position": 5})
    source.close()


def test_problems_are_told_by_setting(database: Database) -> None:
    assert PostgresSource.problems(database.config()) == {}
    (name,) = PostgresSource.problems(database.config(table_include_list="(a"))
    assert name == "table.include.list"
    (name,) = PostgresSource.problems(database.config(signal_data_collection="s.t"))
    assert name == "signal.data.collection"
    ((name, why),) = PostgresSource.problems(
        {**database.config(), "database.dbname": "none"}
    ).items()
    assert name == "database.hostname"
    # As Debezium's connector words it.
    assert why.startswith(
        "The 'database.hostname' value is invalid: Error while validating connector config: "
    )
