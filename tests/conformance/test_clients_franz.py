"""franz-go, a client in Go, against our broker."""

import base64

import pytest

from conformance.apache.lines import Json, nullable_from_base64
from conformance.clients.programs import call, go_program
from conformance.our_broker import OurBroker
from conformance.sent import CODECS, Sent, big_record, records

pytestmark = pytest.mark.needs("go")


@pytest.fixture(scope="module")
def franz() -> list[str]:
    return go_program("franz")


def there_and_back(
    franz: list[str], broker: OurBroker, rows: list[Sent], **options: str
) -> list[Sent]:
    request = {
        "bootstrap": broker.bootstrap,
        "codec": "none",
        "rows": [_row(row) for row in rows],
        **options,
    }
    return [_sent(row) for row in call(franz, request)]


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
