"""Answers of a web server become records, page by page, and each of them once."""

from collections.abc import Iterator, Mapping
from urllib.parse import parse_qs, urlsplit

import pytest

from moldau.connect.connector import Offset
from moldau.connect.connectors.web.source import HttpSource
from moldau.connect.data.schema import INT64, STRING
from moldau.connect.errors import ConfigError, ConnectError
from moldau.connect.testing import Read, read
from unit.connect.connectors.web.servers import Said, Server, web_server


@pytest.fixture
def server() -> Iterator[Server]:
    with web_server() as running:
        yield running


def settings(server: Server, **more: str) -> dict[str, str]:
    named = {name.replace("_", "."): text for name, text in more.items()}
    return {
        "url": f"{server.url}/items",
        "topic.name.pattern": "items",
        "request.interval.ms": "60000",
        "retry.backoff.ms": "0",
        **named,
    }


def query(path: str) -> Mapping[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(path).query).items()}


def gone_on(found: Read, config: dict[str, str]) -> Read:
    return read(HttpSource, config, found.offsets)


def test_the_number_of_records_is_the_offset(server: Server) -> None:
    rows = [{"id": at} for at in range(5)]

    def answer(path: str) -> Said:
        first = int(query(path)["from"])
        return Said(200, {"data": rows[first : first + 2]})

    server.answer = answer
    config = settings(
        server,
        http_request_parameters="from=${offset}",
        http_initial_offset="0",
        http_response_data_json_pointer="/data",
    )
    found = read(HttpSource, config)
    assert found.values() == rows
    assert server.asked == [f"/items?from={first}" for first in (0, 2, 4, 5)]
    rows.append({"id": 5})
    assert gone_on(found, config).values() == [{"id": 5}]


def test_each_record_may_say_where_the_next_begins(server: Server) -> None:
    rows = [{"at": "2026-01-01T00:00+01"}, {"at": "2026-01-02T00:00+01"}]

    def answer(path: str) -> Said:
        return Said(200, [each for each in rows if each["at"] > query(path).get("since", "")])

    server.answer = answer
    config = settings(
        server,
        url=f"{server.url}/items?since=${{offset}}",
        http_offset_mode="CHAINING",
        http_offset_json_pointer="/at",
        http_key_json_pointer="/at",
    )
    found = read(HttpSource, config)
    assert found.values() == rows
    assert [each.key.value for each in found.records] == [each["at"] for each in rows]
    assert server.asked[1] == "/items?since=2026-01-02T00%3A00%2B01"
    assert gone_on(found, config).values() == []
    rows.append({})
    server.answer = lambda _: Said(200, rows)
    with pytest.raises(ConnectError, match="no offset to go on from"):
        gone_on(found, config)


def pages(server: Server) -> dict[str, list[int]]:
    """Pages a, b, c; each names the next."""
    found = {"a": [1, 2], "b": [3], "c": [4]}
    following = {"a": "b", "b": "c"}

    def answer(path: str) -> Said:
        name = query(path).get("page") or "a"
        return Said(200, {"rows": found[name], "next": following.get(name)})

    server.answer = answer
    return found


def test_pages_are_followed_and_the_last_may_grow(server: Server) -> None:
    found = pages(server)
    config = settings(
        server,
        http_request_parameters="page=${offset}",
        http_offset_mode="CURSOR_PAGINATION",
        http_next_page_json_pointer="/next",
        http_response_data_json_pointer="/rows",
    )
    first = read(HttpSource, config)
    assert first.values() == [1, 2, 3, 4]
    assert first.offsets == [({"entity": ""}, {"offset": "c", "seen": 1})]
    found["c"].append(5)
    second = gone_on(first, config)
    assert second.values() == [5]
    del found["c"][0]  # what is not there any more does not bring back what was read
    assert gone_on(second, config).values() == []


def test_a_page_may_be_a_whole_address_on_the_same_server(server: Server) -> None:
    with web_server() as other:
        following = ["/items?page=2", f"{server.url}/items?page=3", f"{other.url}/items"]
        server.answer = lambda path: Said(200, {"rows": [path], "next": following.pop(0)})
        config = settings(
            server,
            url="${offset}",
            http_initial_offset=f"{server.url}/items",
            http_offset_mode="CURSOR_PAGINATION",
            http_next_page_json_pointer="/next",
            http_response_data_json_pointer="/rows",
            auth_type="BEARER",
            bearer_token="secret",
        )
        with pytest.raises(ConnectError, match="is another server than"):
            read(HttpSource, config)
        assert server.asked == ["/items", "/items?page=2", "/items?page=3"]
        assert other.asked == []
        assert {each["Authorization"] for each in server.headers} == {"Bearer secret"}


def test_entities_are_partitions_with_topics_of_their_own(server: Server) -> None:
    server.answer = lambda path: Said(200, {"of": path})
    config = settings(
        server,
        url=f"{server.url}/${{entityName}}/now",
        entity_names="north, a/b",
        topic_name_pattern="weather-${entityName}",
    )
    found = read(HttpSource, config)
    assert [(each.topic, each.value.value) for each in found.records] == [
        ("weather-north", {"of": "/north/now"}),
        ("weather-a/b", {"of": "/a%2Fb/now"}),
    ]
    # The same is asked again after the interval, not at once.
    assert len(server.asked) == 2


def test_requests_are_posted_with_logins_and_headers(server: Server) -> None:
    server.answer = lambda _: Said(200, {"id": 7, "name": "x"})
    config = settings(
        server,
        http_request_method="POST",
        http_request_body='{"q": "${offset}"}',
        http_initial_offset="0",
        http_request_headers="X-A: 1|X-B: 2",
        auth_type="BASIC",
        connection_user="me",
        connection_password="secret",
        infer_schema="true",
        http_key_json_pointer="/id",
    )
    source = HttpSource(config)
    batch = source.read({"entity": ""}, None, 10)
    source.close()
    assert batch is not None
    (record,) = batch.records
    assert record.key.schema is not None
    assert record.key.schema.kind is INT64.kind
    assert record.value.schema is not None
    assert [each.schema.kind for each in record.value.schema.fields] == [INT64.kind, STRING.kind]
    assert server.bodies == [b'{"q": "0"}']
    sent = server.headers[0]
    assert (sent["X-A"], sent["X-B"]) == ("1", "2")
    assert sent["Authorization"] == "Basic bWU6c2VjcmV0"


def test_an_answer_that_is_no_json_and_one_without_records(server: Server) -> None:
    server.answer = lambda _: Said(200, b"<html>")
    with pytest.raises(ConnectError, match="/items: the answer is no JSON"):
        read(HttpSource, settings(server))
    server.answer = lambda _: Said(204)
    assert read(HttpSource, settings(server)).values() == []


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"http_offset_mode": "CHAINING"}, "needs http.offset.json.pointer"),
        (
            {"http_offset_mode": "CHAINING", "http_offset_json_pointer": "/id"},
            r"needs \$\{offset\} in the request",
        ),
        ({"http_request_parameters": "from=${offset}"}, "begins with a number"),
        ({"url": "ftp://host/"}, "url: it is no address"),
        ({"auth_type": "BASIC"}, "connection.user"),
    ],
)
def test_settings_that_cannot_work_are_refused(
    server: Server, more: dict[str, str], problem: str
) -> None:
    with pytest.raises(ConfigError, match=problem):
        HttpSource(settings(server, **more))


def test_offsets_are_checked(server: Server) -> None:
    source = HttpSource(settings(server))
    partition: Offset = {"entity": ""}
    source.check_offset(partition, {"offset": "5"})
    source.check_offset(partition, None)
    with pytest.raises(ConnectError, match="is none of"):
        source.check_offset({"entity": "x"}, None)
    with pytest.raises(ConnectError, match="it has an `offset`"):
        source.check_offset(partition, {"position": 5})
    source.close()
