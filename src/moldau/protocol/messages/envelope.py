"""Envelope (key 58): a broker forwards a client's request to the controller (KIP-590)."""

from moldau.protocol.declaration import message
from moldau.protocol.primitives import Int16


@message(api_key=58, versions=range(0, 1), flexible_from=0)
class EnvelopeRequest:
    request_data: bytes
    request_principal: bytes | None
    client_host_address: bytes


@message(api_key=58, versions=range(0, 1), flexible_from=0)
class EnvelopeResponse:
    response_data: bytes | None = None
    error_code: Int16
