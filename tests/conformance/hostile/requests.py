"""What the hostile cases have in common."""

import pytest

from moldau.protocol.headers import RequestHeader, encode_request_header
from moldau.protocol.messages.produce import ProduceRequest
from moldau.testing.wire import Disconnected, WireClient

TOPIC = "orders"
FRAME_MAX_BYTES = 4 * 2**20


def assert_closed(client: WireClient) -> None:
    with pytest.raises(Disconnected):
        client.receive_frame()


def request_frame(api_key: int, version: int, body: bytes, client_id: str = "hostile") -> bytes:
    return encode_request_header(RequestHeader(api_key, version, 1, client_id)) + body


def code_of(client: WireClient, request: ProduceRequest, version: int | None = None) -> int:
    response = client.ask(request, version)
    code: int = response.responses[0].partition_responses[0].error_code
    return code
