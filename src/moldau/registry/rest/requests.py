"""What stands in requests: path, query and body, checked."""

from collections.abc import Mapping
from urllib.parse import unquote

from starlette.requests import Request

from moldau.registry.failures import InvalidSchema, RegistryRefused
from moldau.registry.records import AVRO, SchemaReference
from moldau.registry.resolution import NewSchema
from moldau.web.bodies import check_json, parse_json, read_body

_BODY_MAX_BYTES = 8 * 2**20
SCHEMA_MAX_BYTES = 1_000_000
"""A little less than a record may have, where the topic's limit is Kafka's default."""
_CONTEXT = ":."
_ID_MAX = 2**31 - 1


async def raw_body(request: Request) -> bytes:
    """The body as it is, so that it can be passed on."""
    check_json(request)
    return await read_body(request, _BODY_MAX_BYTES)


async def body_of(data: bytes) -> Mapping[str, object]:
    """The object in a body."""
    found = await parse_json(data)
    if not isinstance(found, dict):
        raise RegistryRefused(422, "the body is an object")
    return found


async def new_schema(data: bytes) -> NewSchema:
    """A schema that is sent to be registered, looked up or compared."""
    body = await body_of(data)
    text, kind = body.get("schema"), body.get("schemaType") or AVRO
    for name in ("metadata", "ruleSet", "schemaTagsToAdd", "schemaTagsToRemove"):
        if body.get(name):
            raise RegistryRefused(422, f"{name}: this registry keeps schemas alone")
    if not isinstance(text, str) or not text.strip():
        raise InvalidSchema("Empty schema")
    if not isinstance(kind, str):
        raise InvalidSchema("schemaType is a text")
    if len(text.encode("utf-8", "replace")) > SCHEMA_MAX_BYTES:
        message = f"it has more than {SCHEMA_MAX_BYTES} bytes"
        raise RegistryRefused(42209, f"Write failed because schema is too large: {message}")
    return NewSchema(
        text,
        kind.upper(),
        _references(body.get("references")),
        _number(body.get("id"), "id"),
        _number(body.get("version"), "version"),
    )


def subject_of(request: Request) -> str:
    """The subject in the path; contexts are refused."""
    subject = unquote(request.path_params["subject"])
    if subject.startswith(_CONTEXT):
        raise RegistryRefused(42208, f"{subject}: contexts are not supported")
    if any(ord(each) < 32 or 127 <= ord(each) < 160 for each in subject):
        raise RegistryRefused(42208, "The specified subject is not a valid subject.")
    return subject


def id_of(request: Request) -> int:
    """The id in the path."""
    found: str = request.path_params["id"]
    if not found.isascii() or not found.isdigit() or int(found) > _ID_MAX:
        raise RegistryRefused(404, "HTTP 404 Not Found")
    return int(found)


def flag(request: Request, name: str) -> bool:
    """Whether something is asked for in the query."""
    return request.query_params.get(name, "").lower() == "true"


def page(request: Request) -> slice:
    """The part of a list that is asked for."""
    start = _natural(request.query_params.get("offset", "0"))
    limit = request.query_params.get("limit", "-1")
    return slice(start, None if limit == "-1" else start + _natural(limit))


def _natural(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 10:
        raise RegistryRefused(422, f"{text[:20]!r} is no number")
    return int(text)


def _references(listed: object) -> tuple[SchemaReference, ...]:
    if listed is None:
        return ()
    if not isinstance(listed, list):
        raise InvalidSchema("references are a list")
    found: list[SchemaReference] = []
    for each in listed:
        match each:
            case {"name": str(name), "subject": str(subject), "version": int(version)}:
                if subject.startswith(_CONTEXT):
                    raise RegistryRefused(42208, f"{subject}: contexts are not supported")
                found.append(SchemaReference(name, subject, version))
            case _:
                raise InvalidSchema("a reference has a name, a subject and a version")
    return tuple(found)


def _number(found: object, name: str) -> int | None:
    if found in (None, -1, 0):
        return None
    if not isinstance(found, int) or not 0 < found <= _ID_MAX:
        raise RegistryRefused(422, f"{name} is a number from 1 on")
    return found
