"""kafkajs, a client in JavaScript, against our broker."""

import base64
from pathlib import Path

import pytest

from conformance.apache.lines import Json
from conformance.clients.programs import node_program
from conformance.clients.talking import call, talking
from conformance.our_broker import OurBroker, our_broker
from conformance.sent import CODECS, Sent, big_record, records
from conformance.test_clients_confluent import consume
from moldau.records.batch import iterate_headers

pytestmark = pytest.mark.needs("node", "npm")


@pytest.fixture(scope="module")
def kafkajs() -> list[str]:
    return node_program("kafkajs")


def distinct_headers() -> list[Sent]:
    """kafkajs keeps headers in an object, so a name cannot be given twice."""
    return [row._replace(headers=tuple(dict(row.headers).items())) for row in records()]


def _base64(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def _request(broker: OurBroker, rows: list[Sent], **options: object) -> Json:
    return {
        "bootstrap": broker.bootstrap,
        "codec": "none",
        "idempotent": False,
        "rows": [
            [
                row.timestamp_ms,
                _base64(row.key),
                _base64(row.value),
                [[name, _base64(content)] for name, content in row.headers],
            ]
            for row in rows
        ],
        **options,
    }


def there_and_back(
    kafkajs: list[str], broker: OurBroker, rows: list[Sent], **options: object
) -> Json:
    answer = call(kafkajs, _request(broker, rows, **options))
    assert answer["end_offset"] == len(rows)
    return answer["rows"]


def codecs_on_disk(broker: OurBroker, topic: str) -> set[str]:
    log = (broker.log_directory / f"{topic}-0" / f"{0:020}.log").read_bytes()
    return {header.codec.name.lower() for _, header in iterate_headers(log)}


def _without_headers(rows: list[Sent]) -> list[tuple[int, str | None, str | None]]:
    return [(row.timestamp_ms, _base64(row.key), _base64(row.value)) for row in rows]


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("is_idempotent", [False, True], ids=["plain", "idempotent"])
def test_what_it_produces_is_there(
    kafkajs: list[str], broker: OurBroker, codec: str, is_idempotent: bool
) -> None:
    topic, rows = f"codec-{codec}-{is_idempotent}", distinct_headers()
    read = there_and_back(
        kafkajs, broker, rows, topic=topic, codec=codec, idempotent=is_idempotent, group=topic
    )
    assert consume(broker.bootstrap, topic, len(rows)) == rows
    assert codecs_on_disk(broker, topic) == {codec}
    assert [tuple(row[:3]) for row in read] == _without_headers(rows)


def test_a_message_of_several_megabytes(kafkajs: list[str], broker: OurBroker) -> None:
    rows = [big_record()]
    read = there_and_back(kafkajs, broker, rows, topic="big", group="big")
    assert [tuple(row[:3]) for row in read] == _without_headers(rows)


def test_a_producer_goes_on_after_a_restart(kafkajs: list[str], tmp_path: Path) -> None:
    rows = distinct_headers()
    with our_broker(tmp_path) as broker, talking(kafkajs) as ask:
        ask(_request(broker, rows[:100], topic="t", idempotent=True, group="before"))
        broker.stop()
        broker.start()
        answer = ask(_request(broker, rows[100:], topic="t", idempotent=True, group="after"))
        assert [tuple(row[:3]) for row in answer["rows"]] == _without_headers(rows)


def test_topics_and_groups_are_administered(kafkajs: list[str], broker: OurBroker) -> None:
    request = {"bootstrap": broker.bootstrap, "admin": True, "topic": "administered"}
    assert call(kafkajs, {**request, "group": "administered"}) == {
        "created": True,
        "created_again": False,
        "partitions": [0, 1, 2],
        # What is not named in the (not incremental) change goes back to its default.
        "settings": {"cleanup.policy": "delete", "retention.ms": "123456"},
        "offsets": {"0": "7", "1": "-1", "2": "-1"},
        "group": ["administered", "Empty"],
        "is_listed": True,
        "deleted": [0],
        "brokers": [0],
        "controller": 0,
        "is_gone": True,
    }
