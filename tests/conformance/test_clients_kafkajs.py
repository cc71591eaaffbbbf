"""kafkajs, a client in JavaScript, against our broker."""

import base64

import pytest

from conformance.apache.lines import Json
from conformance.clients.programs import call, node_program
from conformance.our_broker import OurBroker
from conformance.sent import Sent, records
from conformance.test_clients_confluent import consume

pytestmark = pytest.mark.needs("node", "npm")


@pytest.fixture(scope="module")
def kafkajs() -> list[str]:
    return node_program("kafkajs")


def distinct_headers() -> list[Sent]:
    """kafkajs keeps headers in an object, so a name cannot be given twice."""
    return [row._replace(headers=tuple(dict(row.headers).items())) for row in records()]


def _base64(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def there_and_back(
    kafkajs: list[str], broker: OurBroker, rows: list[Sent], **options: object
) -> Json:
    request = {
        "bootstrap": broker.bootstrap,
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
    answer = call(kafkajs, request)
    assert answer["end_offset"] == len(rows)
    return answer["rows"]


@pytest.mark.parametrize("codec", ["none", "gzip"])
@pytest.mark.parametrize("is_idempotent", [False, True], ids=["plain", "idempotent"])
def test_what_it_produces_is_there(
    kafkajs: list[str], broker: OurBroker, codec: str, is_idempotent: bool
) -> None:
    topic, rows = f"codec-{codec}-{is_idempotent}", distinct_headers()
    there_and_back(kafkajs, broker, rows, topic=topic, codec=codec, idempotent=is_idempotent)
    assert consume(broker.bootstrap, topic, len(rows)) == rows


def test_a_group_reads_everything(kafkajs: list[str], broker: OurBroker) -> None:
    rows = distinct_headers()
    read = there_and_back(
        kafkajs, broker, rows, topic="grouped", codec="none", idempotent=False, group="kafkajs"
    )
    assert [(row[0], row[1], row[2]) for row in read] == [
        (row.timestamp_ms, _base64(row.key), _base64(row.value)) for row in rows
    ]
