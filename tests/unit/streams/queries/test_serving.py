"""Tables are asked over HTTP."""

import http.client
import json
from collections.abc import Iterator

import pytest

from moldau.client.blocking.producer import Producer
from moldau.streams.queries.serving import TableServer
from moldau.streams.queries.values import encode
from moldau.streams.queries.view import TableView
from moldau.streams.serdes import LONG, STRING, WindowedSerde
from moldau.testing.broker import running_broker

WINDOWS = WindowedSerde(STRING)


@pytest.fixture(scope="module")
def server() -> Iterator[TableServer]:
    with running_broker() as broker:
        servers = broker.bootstrap_servers
        with Producer[bytes, bytes](bootstrap_servers=servers) as producer:
            for number, word in enumerate(("moldau", "vltava/elbe", "river")):
                producer.send("counts", number.to_bytes(8, "big"), key=word.encode())
            for start_ms in (10, 0):
                producer.send("visits", b"x", key=encode(WINDOWS, ("anna", start_ms)))
        with (
            TableView(servers, "counts", key=STRING, value=LONG) as counts,
            TableView(servers, "visits", key=WINDOWS, value=STRING) as visits,
            TableView(servers, "counts", keys_max=1) as broken,
            TableServer({"counts": counts, "visits": visits, "broken": broken}, port=0) as server,
        ):
            counts.wait_until_current()
            visits.wait_until_current()
            with pytest.raises(RuntimeError):
                broken.wait_until_current()
            yield server


def get(server: TableServer, target: str, method: str = "GET") -> tuple[int, object]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request(method, target)
    response = connection.getresponse()
    assert response.getheader("Content-Type") == "application/json"
    status, answer = response.status, json.loads(response.read())
    connection.close()
    return status, answer


def test_a_key_is_found(server: TableServer) -> None:
    assert get(server, "/tables/counts/river") == (200, {"key": "river", "value": 2})
    assert get(server, "/tables/counts/vltava%2Felbe") == (200, {"key": "vltava/elbe", "value": 1})


def test_rows_come_in_order_and_in_pages(server: TableServer) -> None:
    assert get(server, "/tables/counts?limit=1") == (200, [{"key": "moldau", "value": 0}])
    status, rows = get(server, "/tables/counts?after=moldau")
    assert isinstance(rows, list)
    assert (status, [row["key"] for row in rows]) == (200, ["river", "vltava/elbe"])


def test_windows_of_a_key_are_told(server: TableServer) -> None:
    assert get(server, "/tables/visits?windows_of=anna") == (
        200,
        [
            {"key": {"key": "anna", "start": 0}, "value": "x"},
            {"key": {"key": "anna", "start": 10}, "value": "x"},
        ],
    )
    assert get(server, '/tables/visits/["anna",10]')[0] == 200


def test_tables_are_listed_and_those_that_have_stopped_say_so(server: TableServer) -> None:
    status, answer = get(server, "/tables")
    assert (status, "has stopped" in str(answer)) == (200, True)
    assert {"name": "visits", "topic": "visits", "keys": 2} in answer  # type: ignore[operator]


@pytest.mark.parametrize(
    ("target", "status", "words"),
    [
        ("/tables/counts/lake", 404, "no key 'lake'"),
        ("/tables/lakes", 404, "ask for /tables"),
        ("/", 404, "ask for /tables"),
        ("/tables/counts?limit=many", 400, "many"),
        ("/tables/visits/anna", 400, "Expecting value"),
        ("/tables/broken/river", 503, "raise keys_max"),
    ],
)
def test_what_is_wrong_is_said(server: TableServer, target: str, status: int, words: str) -> None:
    answered, answer = get(server, target)
    assert answered == status
    assert words in json.dumps(answer)


def test_tables_are_read_only(server: TableServer) -> None:
    assert get(server, "/tables", "POST")[0] == 405
