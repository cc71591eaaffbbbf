"""A schema registry with Confluent's interface, and the header that it puts before values.

A value that belongs to a registered schema starts with a zero byte and the number of the
schema, an int32; what follows is in the schema's format.
"""

import base64
import json
import ssl
import struct
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from moldau.client.connection.refusal import why

_HEADER = struct.Struct(">bi")
HEADER_SIZE = _HEADER.size
_MAGIC = 0
_CONTENT_TYPE = "application/vnd.schemaregistry.v1+json"
_TIMEOUT_S = 30.0
SERIALIZED = "serialized"
"""The format in which a registry gives a `.proto` as a descriptor, in base64."""


class Reference(NamedTuple):
    """A schema that another one uses: the name in its text, and the version that has it."""

    name: str
    subject: str
    version: int


class Schema(NamedTuple):
    """A schema as it is registered; its kind is AVRO, JSON or PROTOBUF."""

    text: str
    kind: str = "AVRO"
    references: tuple[Reference, ...] = ()


class RegistryAccess(NamedTuple):
    """What a registry asks for, if it is not a name and a password in its address."""

    bearer_token: str = ""
    trusted: str | None = None
    """A file in PEM with the authorities of its certificate, if the system's do not know it."""


class SubjectName(Enum):
    """Under which name schemas are registered: Java's strategies by their settings' names."""

    TOPIC = "TopicNameStrategy"
    RECORD = "RecordNameStrategy"
    TOPIC_RECORD = "TopicRecordNameStrategy"

    def of(self, topic: str, record: str = "", *, is_key: bool = False) -> str:
        """The subject of a topic's keys or values, or of a record by its full name."""
        if self is SubjectName.TOPIC:
            return f"{topic}-{'key' if is_key else 'value'}"
        if not record:
            raise ValueError(f"{self.value} needs the name of the record")
        return record if self is SubjectName.RECORD else f"{topic}-{record}"


class RegistryError(Exception):
    """The registry refused something, or did not answer; `code` is its own, 0 if it gave none."""

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code


class Registry:
    """Asks a registry, and asks nothing twice: what is registered never changes.

    Name and password may be part of the address. `auto_register` and `use_latest` are what
    Java's serializers call `auto.register.schemas` and `use.latest.version`: a schema that is
    written with is registered, unless it has to be there already, or the newest of its subject is
    taken in its place.
    """

    def __init__(
        self,
        url: str,
        *,
        timeout_s: float = _TIMEOUT_S,
        auto_register: bool = True,
        use_latest: bool = False,
        access: RegistryAccess | None = None,
    ) -> None:
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
        access = access or RegistryAccess()
        if access.bearer_token:
            self._headers["Authorization"] = f"Bearer {access.bearer_token}"
        self._trusted = access.trusted
        self._timeout_s = timeout_s
        self._auto_register = auto_register
        self.use_latest = use_latest
        self._schemas: dict[tuple[int, str], Schema] = {}
        self._versions: dict[tuple[str, int, str], Schema] = {}
        self._ids: dict[tuple[str, Schema], int] = {}

    def schema(self, schema_id: int, form: str = "") -> Schema:
        """The schema with this number, its text in another form if one is named."""
        key = schema_id, form
        if key not in self._schemas:
            answer = self._ask("GET", f"/schemas/ids/{schema_id}{_query(form)}")
            self._schemas[key] = _schema_of(answer)
        return self._schemas[key]

    def version(self, subject: str, version: int, form: str = "") -> Schema:
        """A version of a subject."""
        key = subject, version, form
        if key not in self._versions:
            path = f"/subjects/{_quoted(subject)}/versions/{version}{_query(form)}"
            self._versions[key] = _schema_of(self._ask("GET", path))
        return self._versions[key]

    def version_of(self, subject: str, schema: Schema) -> int:
        """Which version of the subject has a schema; RegistryError if none has."""
        found = self._ask("POST", f"/subjects/{_quoted(subject)}", _body_of(schema))["version"]
        assert isinstance(found, int), "a registry numbers versions"
        return found

    def used_by(self, schema: Schema, form: str = "") -> Iterator[tuple[str, Schema]]:
        """What a schema uses, by name and each once; what others of these use comes before them."""
        seen: set[str] = set()

        def follow(each: Schema) -> Iterator[tuple[str, Schema]]:
            for name, subject, version in each.references:
                if name not in seen:
                    seen.add(name)
                    used = self.version(subject, version, form)
                    yield from follow(used)
                    yield name, used

        return follow(schema)

    def register(self, subject: str, schema: Schema) -> int:
        """The number of a schema, which is registered under the subject if it was not before."""
        return self._id_of(subject, schema, "/versions")

    def look_up(self, subject: str, schema: Schema) -> int:
        """The number of a schema that the subject has; RegistryError if it has not."""
        return self._id_of(subject, schema, "")

    def for_writing(self, subject: str, schema: Schema) -> int:
        """The number that values of a schema are written with."""
        if self.use_latest:
            return self.latest(subject)[0]
        if self._auto_register:
            return self.register(subject, schema)
        return self.look_up(subject, schema)

    def _id_of(self, subject: str, schema: Schema, action: str) -> int:
        key = (subject, schema)
        if key not in self._ids:
            path = f"/subjects/{_quoted(subject)}{action}"
            schema_id = self._ask("POST", path, _body_of(schema))["id"]
            assert isinstance(schema_id, int), "a registry numbers its schemas"
            self._ids[key] = schema_id
        return self._ids[key]

    def latest(self, subject: str) -> tuple[int, Schema]:
        """The newest schema of a subject, and its number."""
        answer = self._ask("GET", f"/subjects/{_quoted(subject)}/versions/latest")
        schema_id = answer["id"]
        assert isinstance(schema_id, int), "a registry numbers its schemas"
        return schema_id, _schema_of(answer)

    def _ask(
        self, method: str, path: str, body: dict[str, object] | None = None
    ) -> dict[str, object]:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(  # noqa: S310 - the scheme was checked
            self._url + path, data, self._headers, method=method
        )
        # Made when it is needed: a registry goes to Spark's workers, and a context cannot.
        is_safe = self._url.startswith("https:")
        try:
            context = ssl.create_default_context(cafile=self._trusted) if is_safe else None
            with urllib.request.urlopen(  # noqa: S310 - the scheme was checked
                request, timeout=self._timeout_s, context=context
            ) as answer:
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
    """What goes before values of a schema, as the registry has it; without one nothing."""
    if registry is None:
        return b""
    if subject is None:
        raise ValueError("to write, a subject is needed: usually the topic and -value")
    return put_header(registry.for_writing(subject, schema), b"")


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


def _quoted(subject: str) -> str:
    return urllib.parse.quote(subject, safe="")


def _query(form: str) -> str:
    return f"?format={form}" if form else ""


def _body_of(schema: Schema) -> dict[str, object]:
    body: dict[str, object] = {"schema": schema.text}
    if schema.kind != "AVRO":
        body["schemaType"] = schema.kind
    if schema.references:
        body["references"] = [each._asdict() for each in schema.references]
    return body


def _schema_of(answer: dict[str, object]) -> Schema:
    listed = answer.get("references") or []
    assert isinstance(listed, list), "references are a list"
    references = [Reference(each["name"], each["subject"], each["version"]) for each in listed]
    kind = str(answer.get("schemaType", "AVRO"))
    return Schema(str(answer["schema"]), kind, tuple(references))


def _refusal(method: str, path: str, error: urllib.error.HTTPError) -> RegistryError:
    text = error.read().decode(errors="replace")
    code, reason = error.code, text
    try:
        answer = json.loads(text)
        code, reason = int(answer["error_code"]), str(answer["message"])
    except (ValueError, KeyError, TypeError):
        reason = text or error.reason
    return RegistryError(f"{method} {path}: {reason}", code)
