"""What stands before every request and response.

A request begins with its API key and version, which decide how its header goes on:

    version 0   key Int16, version Int16, correlation id Int32 (ControlledShutdown 0 alone)
    version 1   and client id, a nullable string with an Int16 length
    version 2   and tagged fields; requests of flexible versions

The client id never became a compact string. A response has its correlation id,
and in flexible versions tagged fields; the response of ApiVersions never has them,
so that a client which asked for too high a version can read the refusal.
"""

import struct
from dataclasses import dataclass

from moldau.errors import ProtocolError
from moldau.protocol.apis import APIS
from moldau.protocol.primitives import Buffer
from moldau.protocol.tagged import skip_tagged

_KEY_VERSION_CORRELATION = struct.Struct(">hhi")
_LENGTH = struct.Struct(">h")
_CORRELATION = struct.Struct(">i")

_CONTROLLED_SHUTDOWN = 7
_API_VERSIONS = 18
_NEVER = 2**15
# Looked up for every request: the first flexible version of each known API.
_FLEXIBLE_FROM = {
    api.key: _NEVER if api.flexible_from is None else api.flexible_from for api in APIS
}
_TAGGED_FROM = {**_FLEXIBLE_FROM, _API_VERSIONS: _NEVER}


@dataclass(slots=True)
class RequestHeader:
    """Which request this is, and whose."""

    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None = None


def request_header_version(api_key: int, api_version: int) -> int:
    """The header version of requests of this API version; the key must be known."""
    if api_key == _CONTROLLED_SHUTDOWN and api_version == 0:
        return 0
    return 2 if api_version >= _FLEXIBLE_FROM[api_key] else 1


def response_header_version(api_key: int, api_version: int) -> int:
    """The header version of responses of this API version; the key must be known."""
    return int(api_version >= _TAGGED_FROM[api_key])


def encode_request_header(header: RequestHeader) -> bytes:
    """The header in the version that its API version asks for."""
    header_version = request_header_version(header.api_key, header.api_version)
    parts = [
        _KEY_VERSION_CORRELATION.pack(header.api_key, header.api_version, header.correlation_id)
    ]
    if header_version >= 1:
        if header.client_id is None:
            parts.append(_LENGTH.pack(-1))
        else:
            client_id = header.client_id.encode()
            parts += (_LENGTH.pack(len(client_id)), client_id)
    if header_version >= 2:
        parts.append(b"\0")
    return b"".join(parts)


def decode_request_header(buffer: Buffer, position: int = 0) -> tuple[RequestHeader, int]:
    """The header and the position of the body.

    The version may be one that is not served: only its flexibility matters here.
    An unknown API is a `ProtocolError`, since its header is unknown.
    """
    try:
        api_key, api_version, correlation_id = _KEY_VERSION_CORRELATION.unpack_from(
            buffer, position
        )
        position += _KEY_VERSION_CORRELATION.size
        if api_key not in _FLEXIBLE_FROM:
            raise ProtocolError(f"unknown API key {api_key}")
        client_id = None
        if api_key != _CONTROLLED_SHUTDOWN or api_version != 0:
            client_id, position = _decode_client_id(buffer, position)
        if api_version >= _FLEXIBLE_FROM[api_key]:
            position += 1
            if buffer[position - 1]:  # hardly any header has tags
                position = skip_tagged(buffer, position)
        header = RequestHeader(api_key, api_version, correlation_id, client_id)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise ProtocolError(f"request header: {error}") from error
    return header, position


def encode_response_header(correlation_id: int, api_key: int, api_version: int) -> bytes:
    """The header of a response to a request of this API version."""
    header = _CORRELATION.pack(correlation_id)
    return header + b"\0" if api_version >= _TAGGED_FROM[api_key] else header


def decode_response_header(
    buffer: Buffer, api_key: int, api_version: int, position: int = 0
) -> tuple[int, int]:
    """The correlation id and the position of the body."""
    try:
        (correlation_id,) = _CORRELATION.unpack_from(buffer, position)
        position += _CORRELATION.size
        if response_header_version(api_key, api_version):
            position = skip_tagged(buffer, position + 1)
    except (struct.error, IndexError) as error:
        raise ProtocolError(f"response header: {error}") from error
    return correlation_id, position


def _decode_client_id(buffer: Buffer, position: int) -> tuple[str | None, int]:
    (length,) = _LENGTH.unpack_from(buffer, position)
    position += _LENGTH.size
    if length == -1:
        return None, position
    end = position + length
    if length < 0 or end > len(buffer):
        raise ProtocolError(f"client id of {length} bytes, {len(buffer) - position} are left")
    return str(buffer[position:end], "utf-8"), end
