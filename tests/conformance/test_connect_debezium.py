"""Change capture of PostgreSQL writes what Debezium 3.6.3 wrote for the same statements."""

import json
import re
from collections.abc import Iterator

import psycopg
import pytest

from conformance.debezium_records import (
    DIRECTORY,
    Captured,
    golden,
    golden_headers,
    headers_of,
    list_of_names,
    shaped,
    statements,
)
from moldau.connect.connectors.postgresql.source import PostgresSource
from postgres import parts_of, running_postgres

pytestmark = pytest.mark.needs("postgres")

_MONITOR = re.compile(r"io\.debezium\.connector\.postgresql\.LogicalDecodingMessageMonitor.*")
_CONFIGS, _TOPICS = golden("debezium-golden")
_TABLES = [each for each in _TOPICS if ".inv." in each]


@pytest.fixture(scope="module")
def captured() -> Iterator[dict[str, Captured]]:
    """All four connectors, after both parts of the statements."""
    before, after = (DIRECTORY / "debezium-golden.sql").read_text().split("-- part 2")
    with running_postgres(wal_level="logical") as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE DATABASE golden")
        connectors: dict[str, Captured] = {}
        with psycopg.connect(url.replace("/postgres?", "/golden?"), autocommit=True) as connection:
            for statement in statements(before):
                connection.execute(statement.encode())
            host, _ = parts_of(url)
            place = {"database.hostname": host, "poll.interval.ms": "20"}
            for name, config in _CONFIGS.items():
                connectors[name] = Captured({**config, **place}, PostgresSource)
            try:
                for name, each in connectors.items():
                    each.read_until(f"{name}.inv.types")  # the last table of the snapshot
                for statement in statements(after):
                    connection.execute(statement.encode())
                for name, each in connectors.items():
                    each.read_until(f"{name}.message")
                connectors["a"].read_until("__debezium-heartbeat.a")
                yield connectors
            finally:
                for each in connectors.values():
                    each.close()


@pytest.mark.parametrize("topic", [*_TABLES, "a.message"])
def test_records_are_those_of_debezium(captured: dict[str, Captured], topic: str) -> None:
    ours = captured[topic[0]].found[topic]
    theirs = _TOPICS[topic]
    assert len(ours) == len(theirs)
    for number, (our, their) in enumerate(zip(ours, theirs, strict=True)):
        value = None if our.value is None else json.loads(our.value)
        wanted = their["value"]
        if topic == "a.inv.types" and number == 2:
            # Debezium loses a value of type `name` in the stream, though not in the snapshot.
            assert isinstance(wanted, dict)
            assert wanted["payload"]["after"]["c_name"] is None
            wanted["payload"]["after"]["c_name"] = "a_name"
        assert shaped(value) == shaped(wanted), number
        assert list_of_names(value) == list_of_names(wanted), number
        assert (None if our.key is None else json.loads(our.key)) == their["key"]
        assert headers_of(our) == golden_headers(their)


def test_transactions_are_those_of_debezium(captured: dict[str, Captured]) -> None:
    ours = [json.loads(each.value or b"") for each in captured["a"].found["a.transaction"]]
    theirs = [each["value"] for each in _TOPICS["a.transaction"]][2:]  # after one of its own
    schemas = [each["schema"] for each in theirs if isinstance(each, dict)]
    assert [each["schema"] for each in ours] == schemas
    assert list(map(counted, ours)) == list(map(counted, theirs))
    keys = [json.loads(each.key or b"") for each in captured["a"].found["a.transaction"]]
    assert {json.dumps(each["schema"]) for each in keys} == {
        json.dumps(_TOPICS["a.transaction"][0]["key"]["schema"])  # type: ignore[index]
    }
    assert [each["payload"]["id"] for each in keys] == [each["payload"]["id"] for each in ours]


def test_heartbeats_are_those_of_debezium(captured: dict[str, Captured]) -> None:
    our = captured["a"].found["__debezium-heartbeat.a"][0]
    (their,) = _TOPICS["__debezium-heartbeat.a"]
    assert json.loads(our.key or b"") == their["key"]
    assert shaped(json.loads(our.value or b"")) == shaped(their["value"])


def test_the_offset_has_debeziums_fields(captured: dict[str, Captured]) -> None:
    offset = captured["b"].offset
    assert offset is not None
    assert set(offset) == {"ts_usec", "txId", "lsn", "lsn_proc", "lsn_commit", "messageType"}


def counted(record: object) -> object:
    assert isinstance(record, dict)
    value = record["payload"]
    assert isinstance(value, dict)
    tables = value["data_collections"] or []
    names = {
        _MONITOR.sub("message", each["data_collection"]): each["event_count"] for each in tables
    }
    return value["status"], value["event_count"], names, list(value)
