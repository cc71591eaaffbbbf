"""franz-go, a client in Go, against our broker."""

import base64
from pathlib import Path

import pytest

from conformance.apache.lines import Json, nullable_from_base64
from conformance.clients.programs import go_program
from conformance.clients.talking import call, talking
from conformance.our_broker import OurBroker, our_broker
from conformance.sent import CODECS, Sent, big_record, records

pytestmark = pytest.mark.needs("go")


@pytest.fixture(scope="module")
def franz() -> list[str]:
    return go_program("franz")


def there_and_back(
    franz: list[str], broker: OurBroker, rows: list[Sent], **options: object
) -> list[Sent]:
    return [_sent(row) for row in call(franz, _request(broker, rows, **options))]


def _request(broker: OurBroker, rows: list[Sent], **options: object) -> Json:
    return {
        "bootstrap": broker.bootstrap,
        "codec": "none",
        "rows": [_row(row) for row in rows],
        "count": len(rows),
        **options,
    }


def _row(sent: Sent) -> Json:
    headers = [{"name": name, "content": _base64(content)} for name, content in sent.headers]
    return {
        "timestamp_ms": sent.timestamp_ms,
        "key": _base64(sent.key),
        "value": _base64(sent.value),
        "headers": headers,
    }


def _sent(row: Json) -> Sent:
    return Sent(
        nullable_from_base64(row["key"]),
        nullable_from_base64(row["value"]),
        row["timestamp_ms"],
        tuple((one["name"], nullable_from_base64(one["content"])) for one in row["headers"]),
    )


def _base64(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


@pytest.mark.parametrize("codec", CODECS)
def test_every_codec_there_and_back(franz: list[str], broker: OurBroker, codec: str) -> None:
    rows = records()
    assert there_and_back(franz, broker, rows, topic=f"codec-{codec}", codec=codec) == rows


def test_a_message_of_several_megabytes(franz: list[str], broker: OurBroker) -> None:
    rows = [big_record()]
    assert there_and_back(franz, broker, rows, topic="big") == rows


def test_a_group_reads_everything(franz: list[str], broker: OurBroker) -> None:
    rows = records()
    assert there_and_back(franz, broker, rows, topic="grouped", group="franz") == rows


def test_a_producer_goes_on_after_a_restart(franz: list[str], tmp_path: Path) -> None:
    rows = records()
    with our_broker(tmp_path) as broker, talking(franz) as ask:
        ask(_request(broker, rows[:100], topic="t"))
        broker.stop()
        broker.start()
        answer = ask(_request(broker, rows[100:], topic="t", count=len(rows)))
        assert [_sent(row) for row in answer] == rows


def test_topics_and_groups_are_administered(franz: list[str], broker: OurBroker) -> None:
    request = {"bootstrap": broker.bootstrap, "admin": True, "topic": "administered"}
    assert call(franz, {**request, "group": "administered"}) == {
        "created_again": True,
        "partitions": 3,
        "settings": {"cleanup.policy": "compact,delete", "retention.ms": "123456"},
        "ends": 3,
        "offset": 7,
        "state": "Empty",
        "is_listed": True,
        "brokers": [0],
        "controller": 0,
        "is_gone": True,
    }
