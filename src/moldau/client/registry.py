"""A schema registry with Confluent's interface, and the header that it puts before values.

A value that belongs to a registered schema starts with a zero byte and the number of the
schema, an int32; what follows is in the schema's format.
"""

import base64
import json
import struct
import urllib.error
import urllib.parse
import urllib.request
from typing import NamedTuple

from moldau.client.connection.refusal import why

_HEADER = struct.Struct(">bi")
HEADER_SIZE = _HEADER.size
_MAGIC = 0
_CONTENT_TYPE = "application/vnd.schemaregistry.v1+json"
_TIMEOUT_S = 30.0


class Schema(NamedTuple):
    """A schema as it is registered; its kind is AVRO, JSON or PROTOBUF."""

    text: str
    kind: str = "AVRO"


class RegistryError(Exception):
    """The registry refused something, or did not answer; `code` is its own, 0 if it gave none."""

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code


class Registry:
    """Asks a registry, and asks nothing twice: what is registered never changes.

    Name and password may be part of the address.
    """

    def __init__(self, url: str, *, timeout_s: float = _TIMEOUT_S) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r} is no address of a registry: http://host:port")
        host = parts.hostname if parts.port is None else f"{parts.hostname}:{parts.port}"
        self._url = f"{parts.scheme}://{host}{parts.path.rstrip('/')}"
        self._headers = {"Accept": _CONTENT_TYPE, "Content-Type": _CONTENT_TYPE}
        if parts.username is not None:
            pair = f"{urllib.parse.unquote(parts.username)}:"
            pair += urllib.parse.unquote(parts.password or "")
            encoded = base64.b64encode(pair.encode()).decode()
            self._headers["Authorization"] = f"Basic {encoded}"
        self._timeout_s = timeout_s
        self._schemas: dict[int, Schema] = {}
        self._ids: dict[tuple[str, Schema], int] = {}

    def schema(self, schema_id: int) -> Schema:
        """The schema with this number."""
        if schema_id not in self._schemas:
            answer = self._ask("GET", f"/schemas/ids/{schema_id}")
            kind = str(answer.get("schemaType", "AVRO"))
            self._schemas[schema_id] = Schema(str(answer["schema"]), kind)
        return self._schemas[schema_id]

    def register(self, subject: str, schema: Schema) -> int:
        """The number of a schema, which is registered under the subject if it was not before."""
        key = (subject, schema)
        if key not in self._ids:
            body: dict[str, object] = {"schema": schema.text}
            if schema.kind != "AVRO":
                body["schemaType"] = schema.kind
            path = f"/subjects/{urllib.parse.quote(subject, safe='')}/versions"
            schema_id = self._ask("POST", path, body)["id"]
            assert isinstance(schema_id, int), "a registry numbers its schemas"
            self._ids[key] = schema_id
        return self._ids[key]

    def latest(self, subject: str) -> tuple[int, Schema]:
        """The newest schema of a subject, and its number."""
        path = f"/subjects/{urllib.parse.quote(subject, safe='')}/versions/latest"
        answer = self._ask("GET", path)
        schema_id = answer["id"]
        assert isinstance(schema_id, int), "a registry numbers its schemas"
        return schema_id, Schema(str(answer["schema"]), str(answer.get("schemaType", "AVRO")))

    def _ask(
        self, method: str, path: str, body: dict[str, object] | None = None
    ) -> dict[str, object]:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(  # noqa: S310 - the scheme was checked
            self._url + path, data, self._headers, method=method
        )
        try:
            with urllib.request.urlopen(request, timeout=self._timeout_s) as answer:  # noqa: S310
                found: dict[str, object] = json.load(answer)
                return found
        except urllib.error.HTTPError as error:
            with error:
                raise _refusal(method, path, error) from None
        except (OSError, ValueError) as error:
            raise RegistryError(f"{method} {self._url}{path}: {why(error)}") from error


def put_header(schema_id: int, value: bytes) -> bytes:
    """The value with the number of its schema."""
    return _HEADER.pack(_MAGIC, schema_id) + value


def header_for(registry: Registry | None, subject: str | None, schema: Schema) -> bytes:
    """What goes before values of a schema, which is registered if need be; without one nothing."""
    if registry is None:
        return b""
    if subject is None:
        raise ValueError("to write, a subject is needed: usually the topic and -value")
    return put_header(registry.register(subject, schema), b"")


def schema_id_of(value: bytes) -> int:
    """The number of the schema that a value belongs to; ValueError if it has none."""
    if len(value) < HEADER_SIZE or value[0] != _MAGIC:
        raise ValueError("the value does not begin with the number of a schema")
    schema_id: int = _HEADER.unpack_from(value)[1]
    return schema_id


def body_of(value: bytes) -> bytes:
    """What follows the number of the schema; ValueError if a value has none."""
    schema_id_of(value)
    return value[HEADER_SIZE:]


def _refusal(method: str, path: str, error: urllib.error.HTTPError) -> RegistryError:
    text = error.read().decode(errors="replace")
    code, reason = error.code, text
    try:
        answer = json.loads(text)
        code, reason = int(answer["error_code"]), str(answer["message"])
    except (ValueError, KeyError, TypeError):
        reason = text or error.reason
    return RegistryError(f"{method} {path}: {reason}", code)
