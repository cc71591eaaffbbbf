"""What may happen to a database, a broker, a disk or a network while tables are copied."""

import os
import resource
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from conformance.apache.broker import free_port
from conformance.connect_days import PASSWORD, USER, Day
from conformance.our_broker import our_broker
from faults.links import Links
from postgres import postgres_server
from unit.connect.started import started_worker

pytestmark = [pytest.mark.needs("postgres"), pytest.mark.timeout(600)]
RUNNING = ["RUNNING", "RUNNING"]


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Day]:
    directory = tmp_path_factory.mktemp("days")
    secrets = directory / "shop.properties"
    settings = {
        "key.converter": "JsonConverter",
        "value.converter": "JsonConverter",
        "config.providers": "file",
        "config.providers.file.class": "FileConfigProvider",
        "consumer.session.timeout.ms": "6000",
        "consumer.heartbeat.interval.ms": "500",
    }
    settings_of_database = {
        "wal_level": "logical",
        "port": str(free_port()),
        "listen_addresses": "127.0.0.1",
        # Each test leaves one.
        "max_replication_slots": "30",
    }
    with (
        postgres_server(**settings_of_database) as database,
        our_broker(directory / "broker", {"group.initial.rebalance.delay.ms": "0"}) as broker,
        started_worker(broker.bootstrap, settings) as worker,
    ):
        found = Day(database, broker, worker, secrets)
        rules = database.data / "pg_hba.conf"
        rules.write_text(f"local all {USER} scram-sha-256\n{rules.read_text()}")
        found.run(
            f"CREATE ROLE {USER} LOGIN REPLICATION PASSWORD '{PASSWORD}'",
            f"GRANT pg_read_all_data TO {USER}",
            f"GRANT CREATE ON DATABASE postgres TO {USER}",
            "SELECT pg_reload_conf()",
        )
        found.set_password(PASSWORD)
        yield found


def made(day: Day, table: str, more: Mapping[str, str] | None = None, *, rows: int = 300) -> None:
    """A table with a copy of it in the making."""
    day.run(
        f"CREATE TABLE {table} (id integer PRIMARY KEY, v text)",
        f"ALTER TABLE {table} OWNER TO {USER}",
        f"INSERT INTO {table} SELECT i, repeat('x', 50) FROM generate_series(1, {rows}) i",
    )
    day.captured(table, **(more or {}))
    day.copied(table)


def test_a_database_that_is_killed_in_the_stream(day: Day) -> None:
    made(day, "stream")
    day.until_copied("stream")
    with day.changing("stream"):
        for _ in range(2):
            day.until(lambda: day.run("SELECT count(*) FROM copy_stream WHERE id > 1000") != [(0,)])
            day.database.kill()
            day.until(lambda: "RESTARTING" in day.worker.states("in-stream"))
            assert "RetriableException" in day.first_line("in-stream")
            day.database.start()
            day.until_state("in-stream", RUNNING)
    day.ended("stream")


def test_a_database_that_is_killed_in_the_first_read(day: Day) -> None:
    made(day, "first", rows=6_000)
    count = "SELECT count(*) FROM copy_first"
    day.until(lambda: day.run("SELECT to_regclass('copy_first')") != [(None,)])
    day.database.kill()
    day.database.start()
    assert day.run(count) < [(6_000,)], "it was killed too late for this test"
    day.run("DELETE FROM first WHERE id < 50", "UPDATE first SET v = 'y' WHERE id < 100")
    day.ended("first")


def test_a_broker_that_is_killed(day: Day) -> None:
    made(day, "kafka")
    day.until_copied("kafka")
    with day.changing("kafka"):
        day.broker.kill()
        day.broker.start()
        changed = "SELECT count(*) FROM copy_kafka WHERE id > 1000"
        before = day.run(changed)
        day.until(lambda: day.run(changed) > before)
    day.ended("kafka")
    assert day.worker.ask("GET", "/connectors")[0] == 200


def test_a_broker_that_is_killed_in_the_first_read(day: Day) -> None:
    made(day, "early", rows=6_000)
    day.until(lambda: day.run("SELECT to_regclass('copy_early')") != [(None,)])
    day.broker.kill()
    assert day.run("SELECT count(*) FROM copy_early") < [(6_000,)], "it was killed too late"
    day.run("DELETE FROM early WHERE id < 50", "UPDATE early SET v = 'y' WHERE id < 100")
    day.broker.start()
    day.ended("early")


def test_a_disk_of_the_broker_that_is_full(day: Day) -> None:
    made(day, "filling")
    day.until_copied("filling")
    with day.changing("filling"):
        (segment,) = day.broker.log_directory.glob("p.public.filling-0/*.log")
        # No file of the broker can grow beyond that.
        limit = segment.stat().st_size + 100
        _, most = resource.prlimit(day.broker.process_id, resource.RLIMIT_FSIZE)
        resource.prlimit(day.broker.process_id, resource.RLIMIT_FSIZE, (limit, most))
        day.until(lambda: day.broker.has_ended)
        inserted = "SELECT count(*) FROM {} WHERE id > 1000"
        (before,) = day.run(inserted.format("filling"))
        day.until(lambda: day.run(inserted.format("filling")) > [before])
        day.broker.kill()
        day.broker.start()  # there is room from now on
        day.until(lambda: day.run(inserted.format("copy_filling")) > [before])
    day.ended("filling")


def test_a_network_that_is_cut_for_a_while(day: Day) -> None:
    links = Links()
    try:
        door = links.open("database", int(day.database.settings["port"]), "connect")
        address = {"database_hostname": "127.0.0.1", "database_port": str(door)}
        made(day, "far", {**address, "database_user": "postgres", "database_sslmode": "disable"})
        day.until_copied("far")
        with day.changing("far"):
            links.cut("connect", "database")
            inserted = "SELECT count(*) FROM {} WHERE id > 1000"
            day.until(lambda: day.run(inserted.format("far")) > [(50,)])
            assert day.run(inserted.format("copy_far")) < [(50,)], "it is not cut"
            links.mend()
        day.ended("far")
    finally:
        links.close()


def test_a_password_that_is_changed(day: Day, caplog: pytest.LogCaptureFixture) -> None:
    made(day, "secret")
    day.until_copied("secret")
    day.run(
        f"ALTER ROLE {USER} PASSWORD 'second secret'",
        f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{USER}'",
        "INSERT INTO secret VALUES (1000, 'later')",
    )
    day.until(lambda: "password authentication failed" in day.first_line("in-secret"))
    assert day.worker.states("in-secret") == ["RUNNING", "RESTARTING"]
    day.set_password("second secret")
    day.until_state("in-secret", RUNNING)
    shown = [day.worker.ask("GET", path)[1] for path in ("/connectors?expand=status",)]
    shown += [day.worker.ask("GET", f"/connectors/in-secret{part}")[1] for part in ("", "/tasks")]
    day.ended("secret")
    day.run(f"ALTER ROLE {USER} PASSWORD '{PASSWORD}'")
    day.set_password(PASSWORD)
    for text in (PASSWORD, "second secret"):
        assert text not in f"{shown} {caplog.text}"


def test_a_slot_that_is_dropped(day: Day) -> None:
    made(day, "slotless", {"restarts_max": "0"})
    day.until_copied("slotless")
    day.until(
        lambda: (
            day.run("SELECT active FROM pg_replication_slots WHERE slot_name = 'slotless'")
            == [(True,)]
        )
    )
    day.run("INSERT INTO slotless VALUES (1000, 'stored')")
    day.until_copied("slotless")
    day.worker.ask("PUT", "/connectors/in-slotless/stop")
    day.until_state("in-slotless", ["STOPPED"])
    day.run("SELECT pg_drop_replication_slot('slotless')")
    day.worker.ask("PUT", "/connectors/in-slotless/resume")
    day.until_state("in-slotless", ["RUNNING", "FAILED"])
    assert "replication slot slotless is gone" in day.first_line("in-slotless")
    day.run("INSERT INTO slotless VALUES (1001, 'unseen')")
    _, config = day.worker.ask("GET", "/connectors/in-slotless/config")
    assert isinstance(config, dict)
    day.worker.put("in-slotless", {**config, "snapshot.mode": "when_needed"})
    day.ended("slotless")


def test_tables_that_are_altered_renamed_and_dropped(day: Day) -> None:
    made(day, "changed")
    day.until_copied("changed")
    day.run(
        "ALTER TABLE changed ADD COLUMN w integer",
        "UPDATE changed SET w = 7 WHERE id = 1",
        "ALTER TABLE changed RENAME COLUMN w TO z",
        "UPDATE changed SET z = 8 WHERE id = 2",
        "ALTER TABLE changed ALTER COLUMN z TYPE bigint",
        "UPDATE changed SET z = 9000000000 WHERE id = 3",
    )
    wanted = [(1, 7, None), (2, None, 8), (3, None, 9000000000)]
    copied = "SELECT id, w, z FROM copy_changed WHERE id < 4 ORDER BY id"
    # Columns are added and never retyped: what does not fit is named, and set right by hand.
    day.until_state("out-changed", ["RUNNING", "FAILED"])
    assert "out of range for type integer" in day.first_line("out-changed")
    day.run("ALTER TABLE copy_changed ALTER COLUMN z TYPE bigint")
    day.worker.ask("POST", "/connectors/out-changed/restart?includeTasks=true&onlyFailed=true")
    day.until(lambda: day.run(copied) == wanted)
    day.ended("changed")


def test_a_table_that_is_dropped_and_made_again(day: Day) -> None:
    made(day, "dropped")
    day.until_copied("dropped")
    make = ("CREATE TABLE dropped (id integer PRIMARY KEY, v text)",)
    day.run("DROP TABLE dropped", *make, f"ALTER TABLE dropped OWNER TO {USER}")
    # A new table is published when the connector begins; rows of the old one stay in the copy.
    day.worker.ask("POST", "/connectors/in-dropped/restart?includeTasks=true")
    day.until(
        lambda: day.run("SELECT 1 FROM pg_publication_tables WHERE tablename = 'dropped'") != []
    )
    day.run("INSERT INTO dropped VALUES (1000, 'new')")
    day.until(lambda: day.run("SELECT v FROM copy_dropped WHERE id = 1000") == [("new",)])
    assert day.worker.states("in-dropped") == RUNNING
    for name in ("in-dropped", "out-dropped"):
        day.worker.ask("DELETE", f"/connectors/{name}")


def test_a_row_that_is_too_large(day: Day) -> None:
    made(day, "large")
    day.until_copied("large")
    day.run("INSERT INTO large SELECT 1000, repeat('x', 2000000)")
    day.until(lambda: day.worker.states("in-large") == ["RUNNING", "FAILED"])
    first = day.first_line("in-large")
    assert "max.request.size" in first, first
    _, config = day.worker.ask("GET", "/connectors/in-large/config")
    assert isinstance(config, dict)
    day.worker.put("in-large", {**config, "producer.override.max.request.size": "8000000"})
    day.ended("large")


def test_a_disk_that_is_full(day: Day, tmp_path: Path) -> None:
    made(day, "crowded", rows=5)
    day.until_copied("crowded")
    path = tmp_path / "out"
    path.symlink_to("/dev/full")
    sink = {"connector.class": "FileStreamSink", "topics": "p.public.crowded", "file": str(path)}
    day.worker.put("out-disk", sink)
    day.until(lambda: "No space left on device" in day.first_line("out-disk"))
    assert day.worker.states("out-disk") == ["RUNNING", "RESTARTING"]
    os.unlink(path)  # there is room from now on
    day.until(lambda: path.exists() and len(path.read_text().splitlines()) == 5)
    day.until_state("out-disk", RUNNING)
    day.worker.ask("DELETE", "/connectors/out-disk")
    day.ended("crowded")


def test_a_class_that_does_not_exist(day: Day) -> None:
    config = {"connector.class": "io.example.NotHereConnector"}
    status, answer = day.worker.ask("PUT", "/connectors/missing/config", config)
    assert status == 400
    assert "Failed to find any class that implements Connector" in str(answer)
