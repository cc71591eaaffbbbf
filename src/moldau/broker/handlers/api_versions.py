"""ApiVersions (key 18): what this broker speaks; the first request of nearly every client.

Version 1 reports the throttle time; in 2 the client waits it out (KIP-219); 3 is flexible, sends
name and version of the client's software (KIP-511), and can list features (KIP-584); 4 also those
whose lowest version is 0.
"""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.routes import ROUTES
from moldau.errors import ErrorCode
from moldau.protocol.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
)

_OWN = next(route for route in ROUTES if route.name == "ApiVersions")


async def handle(
    request: ApiVersionsRequest, context: Context, broker: Broker
) -> ApiVersionsResponse:
    if context.api_version not in _OWN.versions:
        # Answered in version 0; the one entry says what to ask for instead.
        return _response(ErrorCode.UNSUPPORTED_VERSION, [_OWN.name])
    if context.api_version >= 3 and not _is_software_name(request):
        return _response(ErrorCode.INVALID_REQUEST, [])
    return _response(ErrorCode.NONE, [route.name for route in ROUTES])


def _response(error_code: ErrorCode, names: list[str]) -> ApiVersionsResponse:
    versions = [
        ApiVersion(
            api_key=route.api.key,
            min_version=route.versions.start,
            max_version=route.versions.stop - 1,
        )
        for route in ROUTES
        if route.name in names
    ]
    return ApiVersionsResponse(error_code=error_code, api_keys=versions)


def _is_software_name(request: ApiVersionsRequest) -> bool:
    """KIP-511: letters, digits, dots and dashes, beginning and ending with a letter or digit."""
    return all(
        text
        and text[0].isalnum()
        and text[-1].isalnum()
        and all(char.isascii() and (char.isalnum() or char in ".-") for char in text)
        for text in (request.client_software_name, request.client_software_version)
    )
