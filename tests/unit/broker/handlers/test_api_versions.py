"""ApiVersions: the table of routes, and help for clients that ask too much."""

import pytest

from moldau.broker.routes import ROUTES
from moldau.errors import ErrorCode
from moldau.protocol.headers import RequestHeader, encode_request_header
from moldau.protocol.messages.api_versions import ApiVersionsRequest
from unit.broker.world import CLIENT, CORRELATION_ID, World, broker_world, response_of

API_VERSIONS = 18
CLIENT_NAME = ApiVersionsRequest(client_software_name="c", client_software_version="1.0-x")


@pytest.mark.parametrize("version", range(5))
async def test_every_version_tells_what_is_served(version: int) -> None:
    async with broker_world() as world:
        response = await world.ask(CLIENT_NAME, version)
        assert response.error_code == ErrorCode.NONE
        told = {
            one.api_key: range(one.min_version, one.max_version + 1) for one in response.api_keys
        }
        assert told == {route.api.key: route.versions for route in ROUTES}


@pytest.mark.parametrize("version", [5, 32767, -1])
async def test_a_version_that_is_not_served_is_answered_in_version_0(version: int) -> None:
    async with broker_world() as world:
        header = RequestHeader(API_VERSIONS, version, CORRELATION_ID, "c")
        frame = bytearray(encode_request_header(header) + b"anything at all")
        parts = await world.respond(CLIENT, frame)
        assert parts is not None
        response = response_of(parts, API_VERSIONS, 0)
        assert response.error_code == ErrorCode.UNSUPPORTED_VERSION
        (own,) = response.api_keys
        assert (own.api_key, own.min_version, own.max_version) == (API_VERSIONS, 0, 4)


@pytest.mark.parametrize("name", ["", "-c", "c.", "c d", "ç", "c\n"])
async def test_a_strange_name_is_refused_since_version_3(name: str) -> None:
    async def code(world: World, version: int) -> int:
        asked = ApiVersionsRequest(client_software_name=name, client_software_version="1")
        answered: int = (await world.ask(asked, version)).error_code
        return answered

    async with broker_world() as world:
        assert await code(world, 3) == ErrorCode.INVALID_REQUEST
        assert await code(world, 2) == ErrorCode.NONE
