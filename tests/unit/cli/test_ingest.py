"""One command copies tables and files into topics, and topics into tables and files."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import duckdb
import psycopg
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from mariadb import running_mariadb
from moldau.cli.ingest import main
from moldau.cli.terminal.failure import CommandFailed
from moldau.client.blocking.consumer import Consumer
from moldau.client.blocking.producer import Producer
from moldau.testing.broker import EmbeddedBroker, running_broker
from postgres import running_postgres


@pytest.fixture
def kafka_settings() -> dict[str, str]:
    return {"group.initial.rebalance.delay.ms": "0"}


@pytest.fixture
def mariadb_url() -> Iterator[str]:
    with running_mariadb(skip_log_bin="1") as server:
        connection = server.connect()
        with connection.cursor() as cursor:
            cursor.execute("CREATE DATABASE shop")
        connection.close()
        yield f"mariadb://root@127.0.0.1:{server.port}/shop"


def records(kafka: EmbeddedBroker, topic: str, count: int) -> list[tuple[bytes | None, object]]:
    """So many, and no more."""
    with Consumer[bytes, bytes](
        bootstrap_servers=kafka.bootstrap_servers,
        isolation_level="read_committed",
        auto_offset_reset="earliest",
    ) as consumer:
        consumer.assign([(topic, 0)])
        found: list[tuple[bytes | None, object]] = []
        while len(found) < count:
            found += [(each.key, json.loads(each.value or b"")) for each in consumer.poll(1)]
        assert not consumer.poll(0.2)
    return found


def execute(path: Path, *statements: str) -> list[tuple[object, ...]]:
    with sqlite3.connect(path) as connection:
        found = [connection.execute(each).fetchall() for each in statements][-1]
    connection.close()
    return found


def test_a_table_goes_into_a_topic_and_on_from_there_and_into_another_table(
    kafka: EmbeddedBroker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "shop"
    execute(
        path,
        "CREATE TABLE orders (id INTEGER PRIMARY KEY, name TEXT)",
        "INSERT INTO orders VALUES (1, 'a'), (2, NULL)",
    )
    topic = f"kafka://{kafka.bootstrap_servers}/orders"
    there = [f"sqlite:{path}?table=orders", topic, "--key", "id"]
    assert main(there) == 0
    assert capsys.readouterr().out.startswith("2 records in ")
    execute(path, "INSERT INTO orders VALUES (3, 'c')")
    main(there)
    main(there)
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith("1 records in ")
    assert told[1] == "nothing new since the last run; --again copies everything once more"
    assert records(kafka, "orders", 3) == [
        (b"1", {"id": 1, "name": "a"}),
        (b"2", {"id": 2, "name": None}),
        (b"3", {"id": 3, "name": "c"}),
    ]
    main([*there, "--again"])
    back = [topic, f"sqlite:{path}?table=copied&key=id"]
    main(back)
    main(back)
    assert execute(path, "SELECT * FROM copied ORDER BY id") == [(1, "a"), (2, None), (3, "c")]
    told = capsys.readouterr().out.splitlines()
    assert [each.partition(" in ")[0] for each in told[:2]] == ["3 records", "6 records"]
    assert told[2].startswith("nothing new")


@pytest.mark.needs("mariadbd")
def test_tables_of_other_databases_go_the_same_way(
    kafka: EmbeddedBroker, tmp_path: Path, mariadb_url: str
) -> None:
    path, topic = tmp_path / "d", f"kafka://{kafka.bootstrap_servers}/orders"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE orders AS SELECT 1::bigint AS id, 'a' AS name")
    main([f"duckdb:{path}?table=orders&incrementing=id", topic])
    main([topic, f"{mariadb_url}?table=orders&key=id"])
    onwards = topic.replace("orders", "onwards")
    main([f"{mariadb_url}?table=orders&incrementing=id", onwards])
    main([onwards, f"duckdb:{path}?table=copied&key=id"])
    with duckdb.connect(str(path)) as connection:
        assert connection.execute("SELECT * FROM copied").fetchall() == [(1, "a")]


def test_files_go_into_a_topic_and_a_topic_into_files(
    kafka: EmbeddedBroker, tmp_path: Path
) -> None:
    rows = [{"id": at, "name": f"n{at}"} for at in range(30)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "in.parquet")
    (tmp_path / "in.csv").write_text("id,name\n7,x\n")
    topic = f"kafka://{kafka.bootstrap_servers}/rows"
    main([f"parquet:{tmp_path}/in.parquet", topic, "--set", "batch.max.rows=7"])
    main([f"csv:{tmp_path}/in.csv", topic])
    assert [each for _, each in records(kafka, "rows", 31)] == [*rows, {"id": 7, "name": "x"}]
    for _ in range(2):
        main([topic, f"parquet:{tmp_path}/out", "--set", "rows.per.file=20"])
        main([topic, f"delta:{tmp_path}/lake"])
    lake = DeltaTable(f"{tmp_path}/lake/rows").to_pyarrow_table()
    for table in (ds.dataset(tmp_path / "out").to_table(), lake):
        assert sorted(table["id"].to_pylist()) == sorted([*range(30), 7])


@pytest.mark.needs("postgres")
def test_a_table_goes_through_a_topic_into_another_database(kafka: EmbeddedBroker) -> None:
    with running_postgres() as url, psycopg.connect(url, autocommit=True) as database:
        database.execute("CREATE TABLE orders (id bigint PRIMARY KEY, price float8, note text)")
        database.execute("INSERT INTO orders SELECT n, n / 4.0, NULL FROM generate_series(1, 50) n")
        topic = f"kafka://{kafka.bootstrap_servers}/orders"
        main([f"{url}&table=orders", topic])
        main([topic, f"{url}&table=copied&key=id"])
        different = database.execute("TABLE orders EXCEPT TABLE copied").fetchall()
        assert not different
        assert database.execute("SELECT count(*) FROM copied").fetchone() == (50,)


def test_a_topic_of_plain_texts_has_no_columns_and_is_not_half_copied(
    kafka: EmbeddedBroker, tmp_path: Path
) -> None:
    with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        producer.send("texts", b"no json")
    topic = f"kafka://{kafka.bootstrap_servers}/texts"
    with pytest.raises(CommandFailed, match="serialization error"):
        main([topic, f"sqlite:{tmp_path}/d?table=t"])
    with pytest.raises(CommandFailed, match="needs values with fields"):
        main([topic, f"sqlite:{tmp_path}/d?table=t", "--format", "string"])
    with pytest.raises(CommandFailed, match="there is no topic none"):
        main([f"kafka://{kafka.bootstrap_servers}/none", f"sqlite:{tmp_path}/d?table=t"])


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    topic = "kafka://localhost:1/t"
    table = f"sqlite:{tmp_path}/d?table=t"
    for arguments, why in (
        ([table, table], "one of both addresses is a topic"),
        ([table, topic], "there is no table t"),
        ([topic, table, "--format", "avro"], "needs --registry"),
        ([topic, table, "--key", "id"], r"a table has \?key=COLUMN"),
        ([f"delta:{tmp_path}/x", topic], "cannot be read from"),
        ([topic, f"xml:{tmp_path}/x"], "no address is of this kind"),
    ):
        with pytest.raises(CommandFailed, match=why):
            main(arguments)


def test_a_topic_of_another_cluster_is_copied_and_the_next_run_goes_on(
    kafka: EmbeddedBroker, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with running_broker() as other:
        source = f"kafka://{other.bootstrap_servers}/the.orders"
        settings = tmp_path / "client.properties"
        settings.write_text("source.cluster.retry.backoff.ms=50\nretry.backoff.ms=50\n")
        for count, target in ((3, "the.orders"), (2, "the.orders"), (0, "the.orders")):
            with Producer[bytes, bytes](bootstrap_servers=other.bootstrap_servers) as producer:
                for number in range(count):
                    producer.send("the.orders", b"%d" % number, key=b"\xff")
            place = f"kafka://{kafka.bootstrap_servers}/{target}"
            assert main([source, place, "--command-config", str(settings)]) == 0
            wanted = f"{count} records" if count else "nothing new since the last run"
            assert wanted in capsys.readouterr().out
        found = records(kafka, "the.orders", 5)
        assert found == [(b"\xff", number) for number in (0, 1, 2, 0, 1)]
        assert main([source, f"kafka://{kafka.bootstrap_servers}/old.the.orders"]) == 0
        assert records(kafka, "old.the.orders", 5) == found
        with pytest.raises(CommandFailed, match="under its name, or with a prefix"):
            main([source, f"kafka://{kafka.bootstrap_servers}/others"])
        with pytest.raises(CommandFailed, match="--key and --registry have no use"):
            main([source, f"kafka://{kafka.bootstrap_servers}/the.orders", "--key", "id"])
