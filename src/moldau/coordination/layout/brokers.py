"""Brokers: an ephemeral node for each, and where new broker ids come from.

The transaction that created a broker's node is the broker's epoch.
"""

import re
from dataclasses import dataclass

from moldau.coordination.layout.documents import Document, NodeDataError, encode, parse_integer

IDS_PATH = "/brokers/ids"
SEQUENCE_PATH = "/brokers/seqid"
"""Set to get a new broker id: the version of the node, plus `reserved.broker.max.id`."""

_ENDPOINT = re.compile(r"(.*)://\[?([0-9a-zA-Z\-%._:]*)\]?:([0-9]+)")


def id_path(broker_id: int) -> str:
    return f"{IDS_PATH}/{broker_id}"


@dataclass(frozen=True, slots=True)
class RegisteredEndpoint:
    """An address under which a broker can be reached."""

    listener: str
    security_protocol: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.listener}://{host}:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerRegistration:
    """`/brokers/ids/N`."""

    endpoints: tuple[RegisteredEndpoint, ...]
    timestamp_ms: int
    rack: str | None = None
    jmx_port: int = -1
    version: int = 5
    """4 for brokers before 2.7, which do not know features."""

    def encode(self) -> bytes:
        # Clients before 0.9 look for a plain host and port.
        plain = next((e for e in self.endpoints if e.security_protocol == "PLAINTEXT"), None)
        features: dict[str, object] = {"features": {}} if self.version >= 5 else {}
        rack = {} if self.rack is None else {"rack": self.rack}
        return encode(
            features
            | {
                "listener_security_protocol_map": {
                    endpoint.listener: endpoint.security_protocol for endpoint in self.endpoints
                },
                "endpoints": [str(endpoint) for endpoint in self.endpoints],
            }
            | rack
            | {
                "jmx_port": self.jmx_port,
                "port": -1 if plain is None else plain.port,
                "host": None if plain is None else plain.host,
                "version": self.version,
                "timestamp": str(self.timestamp_ms),
            }
        )


def decode_broker(data: bytes) -> BrokerRegistration:
    document = Document.decode(data)
    protocols = document.mapping_or_empty("listener_security_protocol_map").all_texts()
    return BrokerRegistration(
        endpoints=tuple(_endpoint(text, protocols) for text in document.texts("endpoints")),
        timestamp_ms=parse_integer(document.text("timestamp")),
        rack=document.optional_text("rack"),
        jmx_port=document.integer_or("jmx_port", -1),
        version=document.integer("version"),
    )


def _endpoint(text: str, protocols: dict[str, str]) -> RegisteredEndpoint:
    match = _ENDPOINT.fullmatch(text)
    if match is None:
        raise NodeDataError(f"{text!r} is not an endpoint")
    # Before version 4 a listener's name was its protocol.
    listener = match[1]
    return RegisteredEndpoint(listener, protocols.get(listener, listener), match[2], int(match[3]))
