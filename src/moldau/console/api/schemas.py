"""Schemas of a registry with Confluent's interface: listed, compared, checked, registered."""

import asyncio
import difflib
import json

from moldau.console.access import Role
from moldau.console.bodies import Sent, choice_of, text_of
from moldau.console.endpoints import PREFIX, ApiCall, ApiEndpoint
from moldau.console.services.rest import RestService, list_in, object_in, text_in
from moldau.web.errors import WebError

_SCHEMAS = f"{PREFIX}/schemas"
_SUBJECT = f"{_SCHEMAS}/{{subject}}"
_KINDS = ("avro", "json", "protobuf")
_LINES_MAX = 5000  # comparing takes time by the square of them
_NOT_FOUND = 404


async def subjects(call: ApiCall) -> object:
    """All subjects by name, and the level that counts where none is set."""
    service = _service(call)
    names, level = await asyncio.gather(service.ask("GET", "subjects"), _level(service))
    return {
        "address": service.address,
        "level": level,
        "subjects": sorted(str(each) for each in list_in(names)),
    }


async def subject(call: ApiCall) -> object:
    """The versions of a subject, its level, and its newest schema."""
    service, name = _service(call), call.path("subject")
    versions, own, level = await asyncio.gather(
        service.ask("GET", "subjects", name, "versions"), _level(service, name), _level(service)
    )
    numbers = [each for each in list_in(versions) if isinstance(each, int)]
    if not numbers:
        raise WebError(_NOT_FOUND, f"there is no subject {name}")
    return {
        "subject": name,
        "versions": numbers,
        "level": own or level,
        "is_own_level": own is not None,
        "latest": await _version(service, name, str(numbers[-1])),
    }


async def _level(service: RestService, *subject: str) -> str | None:
    try:
        return text_in(await service.ask("GET", "config", *subject), "compatibilityLevel")
    except WebError as error:
        if subject and error.status == _NOT_FOUND:
            return None  # no level of its own
        raise


async def version(call: ApiCall) -> object:
    """One version of a subject."""
    return await _version(_service(call), call.path("subject"), call.path("version"))


async def _version(service: RestService, name: str, number: str) -> dict[str, object]:
    if number != "latest" and not number.isdecimal():
        raise WebError(400, f"{number} is no number of a version")
    found = object_in(await service.ask("GET", "subjects", name, "versions", number))
    return {
        "version": found.get("version"),
        "id": found.get("id"),
        "type": text_in(found, "schemaType") or "AVRO",
        "schema": pretty(text_in(found, "schema")),
        "references": list_in(found, "references"),
    }


def pretty(schema: str) -> str:
    """A schema on several lines if it is JSON; Protobuf is already."""
    try:
        return json.dumps(json.loads(schema), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return schema


async def differences(call: ApiCall) -> object:
    """What another version has in place of one, line by line."""
    service, name = _service(call), call.path("subject")
    old, new = await asyncio.gather(
        _version(service, name, call.text("from", "latest")),
        _version(service, name, call.text("to", "latest")),
    )
    lines = await asyncio.to_thread(compared, str(old["schema"]), str(new["schema"]))
    return {"from": old["version"], "to": new["version"], "lines": lines}


def compared(old: str, new: str) -> list[list[str]]:
    """Lines with a mark: both have it, the new one alone, or the old one alone."""
    before, after = old.splitlines(), new.splitlines()
    if max(len(before), len(after)) > _LINES_MAX:
        raise WebError(413, f"a schema has more than {_LINES_MAX} lines: compare it elsewhere")
    found = []
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for kind, first, last, start, end in matcher.get_opcodes():
        if kind == "equal":
            found += [[" ", line] for line in before[first:last]]
        else:
            found += [["-", line] for line in before[first:last]]
            found += [["+", line] for line in after[start:end]]
    return found


async def plan(call: ApiCall) -> object:
    """What registering a schema would do: whether it is there, and whether it is compatible."""
    service, name = _service(call), call.path("subject")
    body = _schema(await call.body())
    try:
        known = object_in(await service.ask("POST", "subjects", name, body=body))
    except WebError as error:
        if error.status != _NOT_FOUND:
            raise
        known = {}
    try:
        answer = await service.ask(
            *("POST", "compatibility", "subjects", name, "versions", "latest"),
            body=body,
            query={"verbose": "true"},
        )
    except WebError as error:
        if error.status != _NOT_FOUND:
            raise
        answer = {"is_compatible": True}  # a subject that is not there yet takes everything
    return {
        "version": known.get("version"),
        "is_compatible": object_in(answer).get("is_compatible") is True,
        "messages": [str(each) for each in list_in(answer, "messages")],
    }


async def register(call: ApiCall) -> object:
    """Register a schema as the next version of a subject, which may be new."""
    body = _schema(await call.body())
    name = call.path("subject")
    answer = await _service(call).ask("POST", "subjects", name, "versions", body=body)
    return {"id": object_in(answer).get("id")}


def _schema(sent: Sent) -> dict[str, object]:
    body: dict[str, object] = {"schema": text_of(sent, "schema")}
    kind = choice_of(sent, "type", _KINDS, "avro").upper()
    if kind != "AVRO":
        body["schemaType"] = kind
    references = sent.get("references")
    if references:
        body["references"] = references
    return body


def _service(call: ApiCall) -> RestService:
    if call.console.schemas is None:
        raise WebError(_NOT_FOUND, "there is no registry: start moldau console --registry URL")
    return call.console.schemas


_BODY = {
    "schema": "its text",
    "type": "AVRO if left out, JSON or PROTOBUF",
    "references": "objects with name, subject and version",
}
ENDPOINTS = (
    ApiEndpoint("GET", _SCHEMAS, Role.VIEWER, "Subjects of the registry", subjects),
    ApiEndpoint("GET", _SUBJECT, Role.VIEWER, "A subject and its newest schema", subject),
    ApiEndpoint(
        "GET", f"{_SUBJECT}/versions/{{version}}", Role.VIEWER, "A version of a subject", version
    ),
    ApiEndpoint(
        "GET",
        f"{_SUBJECT}/diff",
        Role.VIEWER,
        "Two versions compared",
        differences,
        query={"from": "a version", "to": "a version; the newest if left out"},
    ),
    ApiEndpoint(
        "POST",
        f"{_SUBJECT}/plan",
        Role.VIEWER,
        "Whether a schema is compatible, and whether it is there",
        plan,
        body=_BODY,
    ),
    ApiEndpoint(
        "POST", f"{_SUBJECT}/versions", Role.OPERATOR, "Register a schema", register, body=_BODY
    ),
)
