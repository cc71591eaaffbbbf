"""A follower passes requests on as they are, and says if it cannot."""

import json

import pytest
from starlette.requests import Request

from moldau.registry.failures import RegistryRefused
from moldau.registry.rest.forwarding import Forwarding
from unit.registry.started import StartedRegistry


def request(method: str, path: str, query: str = "") -> Request:
    return Request(
        {
            "type": "http",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": [(b"content-type", b"application/json"), (b"host", b"localhost")],
            "scheme": "http",
            "server": ("localhost", 1),
        }
    )


async def test_the_leaders_answer_is_passed_back(registry: StartedRegistry) -> None:
    body = b'{"schema":"\\"long\\""}'
    asked = request("POST", "/subjects/a%2Fb/versions")
    passed = await Forwarding().forward(asked, registry.url, body)
    assert json.loads(bytes(passed.response.body)) == {"id": 1}
    assert passed.offset >= 0
    deleted = request("DELETE", "/subjects/a%2Fb", "permanent=true")
    refused = await Forwarding().forward(deleted, registry.url, b"")
    assert refused.response.status_code == 404
    assert json.loads(bytes(refused.response.body))["error_code"] == 40405


async def test_a_leader_that_is_not_there_is_said() -> None:
    with pytest.raises(RegistryRefused) as refused:
        await Forwarding().forward(request("POST", "/subjects/a"), "http://127.0.0.1:1", b"{}")
    assert refused.value.code == 50003
