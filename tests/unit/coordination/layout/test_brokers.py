"""Registrations of brokers."""

import pytest

from moldau.coordination.layout.brokers import (
    BrokerRegistration,
    RegisteredEndpoint,
    decode_broker,
    id_path,
)
from moldau.coordination.layout.documents import NodeDataError
from unit.coordination.layout.conftest import Nodes

_ENDPOINTS = (
    RegisteredEndpoint("PLAINTEXT", "PLAINTEXT", "h", 9092),
    RegisteredEndpoint("EXT", "SASL_SSL", "h2", 9093),
    RegisteredEndpoint("SIX", "PLAINTEXT", "::1", 9094),
)
_TIMESTAMP_MS = 1_600_000_000_000


@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize("rack", [None, "r1"])
def test_a_broker_is_written_as_apache_kafka_writes_it(
    apache: Nodes, version: int, rack: str | None
) -> None:
    broker = BrokerRegistration(
        endpoints=_ENDPOINTS, timestamp_ms=_TIMESTAMP_MS, rack=rack, version=version
    )
    data = apache[f"broker-v{version}" + ("-rack" if rack else "")]
    assert broker.encode() == data
    assert decode_broker(data) == broker


def test_a_broker_without_a_plain_listener_has_no_plain_address(apache: Nodes) -> None:
    broker = BrokerRegistration(
        endpoints=(RegisteredEndpoint("SSL", "SSL", "h", 9093),),
        timestamp_ms=_TIMESTAMP_MS,
        jmx_port=9999,
    )
    assert broker.encode() == apache["broker-info-ssl-only"]


def test_before_version_4_a_listener_is_named_after_its_protocol() -> None:
    data = b'{"version":3,"endpoints":["SSL://h:1"],"timestamp":"0","host":"h","port":1}'
    assert decode_broker(data).endpoints == (RegisteredEndpoint("SSL", "SSL", "h", 1),)


def test_an_endpoint_that_is_none_is_refused() -> None:
    with pytest.raises(NodeDataError, match="'h:1' is not an endpoint"):
        decode_broker(b'{"version":5,"endpoints":["h:1"],"timestamp":"0"}')


def test_a_broker_is_found_by_its_number() -> None:
    assert id_path(7) == "/brokers/ids/7"
