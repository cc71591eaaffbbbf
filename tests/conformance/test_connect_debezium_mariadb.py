"""Change capture of MariaDB writes what Debezium 3.5.0 wrote for the same statements."""

import json
from collections.abc import Iterator

import pytest

from conformance.debezium_records import (
    DIRECTORY,
    Captured,
    golden,
    golden_headers,
    headers_of,
    list_of_names,
    shaped,
)
from conformance.record_debezium import run
from mariadb import running_mariadb
from moldau.connect.connectors.mariadb.source import MariaDbSource

pytestmark = pytest.mark.needs("mariadbd")

_CONFIGS, _TOPICS = golden("debezium-mariadb-golden")
_TABLES = [each for each in _TOPICS if ".inv." in each]


@pytest.fixture(scope="module")
def captured() -> Iterator[dict[str, Captured]]:
    """All connectors, after both parts of the statements."""
    before, after = (DIRECTORY / "debezium-mariadb-golden.sql").read_text().split("-- part 2")
    with running_mariadb() as server:
        run(server, before)
        place = {"database.port": str(server.port), "poll.interval.ms": "20"}
        connectors = {
            name: Captured({**config, **place}, MariaDbSource) for name, config in _CONFIGS.items()
        }
        try:
            for name, each in connectors.items():
                each.read_until(f"{name}.inv.types", 2)  # the last table of the snapshot
            run(server, after)
            for name, each in connectors.items():
                last = f"{name}.inv.no_key"
                each.read_until(last, len(_TOPICS[last]))
            connectors["a"].read_until("__debezium-heartbeat.a")
            yield connectors
        finally:
            for each in connectors.values():
                each.close()


def _with_all_digits(value: object) -> object:
    """Debezium's first read leaves zeros at the end of a fraction out, its stream does not."""
    text = json.dumps(value)
    return json.loads(text.replace('"2024-02-29T12:34:56.12Z"', '"2024-02-29T12:34:56.120Z"'))


@pytest.mark.parametrize("topic", _TABLES)
def test_records_are_those_of_debezium(captured: dict[str, Captured], topic: str) -> None:
    ours = captured[topic[0]].found[topic]
    theirs = _TOPICS[topic]
    assert len(ours) == len(theirs)
    for number, (our, their) in enumerate(zip(ours, theirs, strict=True)):
        value = None if our.value is None else json.loads(our.value)
        assert shaped(value) == shaped(_with_all_digits(their["value"])), number
        assert list_of_names(value) == list_of_names(their["value"]), number
        assert (None if our.key is None else json.loads(our.key)) == their["key"]
        assert headers_of(our) == golden_headers(their)
