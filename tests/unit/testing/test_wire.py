"""A client that says exactly what it is told: one message, or one frame, at a time."""

import pytest

from moldau.protocol.messages.api_versions import ApiVersionsRequest
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.wire import Disconnected, WireClient


def test_a_request_of_any_version_gets_its_response(kafka: EmbeddedBroker) -> None:
    with WireClient(kafka.bootstrap_servers) as client:
        for version in range(5):
            request = ApiVersionsRequest()
            if version >= 3:
                request.client_software_name, request.client_software_version = "wire", "1.0"
            assert client.ask(request, version).error_code == 0


def test_a_frame_that_is_no_request_gets_a_closed_connection(kafka: EmbeddedBroker) -> None:
    with WireClient(kafka.bootstrap_servers) as client:
        client.send_frame(b"\xff\xff")
        with pytest.raises(Disconnected):
            client.receive_frame()
