"""What the registry does for each path and method."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from moldau.registry.decisions import Decided, Decisions
from moldau.registry.failures import NotLeader, RegistryRefused
from moldau.registry.records import StoredSchema
from moldau.registry.rest.answers import CONTENT_TYPE, answer, bare_schema, placed_schema
from moldau.registry.rest.forwarding import FORWARDED, Forwarding
from moldau.registry.rest.requests import (
    body_of,
    flag,
    id_of,
    new_schema,
    page,
    raw_body,
    subject_of,
)
from moldau.registry.service import RegistryService

_FORMAT_SERIALIZED = "serialized"
_TRIES = 3
_READ_S = 10.0

Answer = TypeVar("Answer")


class Handlers:
    """Answers from the service; what it may not write itself goes to the one that may."""

    def __init__(self, service: RegistryService, forwarding: Forwarding) -> None:
        self._service = service
        self._forwarding = forwarding

    @property
    def _state(self) -> Decisions:
        return self._service.decisions

    # Schemas by id

    async def root(self, _: Request) -> Response:
        """GET /: that there is a registry."""
        return answer({})

    async def kinds(self, _: Request) -> Response:
        """GET /schemas/types."""
        return answer(["JSON", "PROTOBUF", "AVRO"])

    async def schema(self, request: Request) -> Response:
        """GET /schemas/ids/ID: the schema of a value that was found."""
        found = self._state.by_id(id_of(request))
        body = bare_schema(found, await self._text(request, found))
        if flag(request, "fetchMaxId"):
            body["maxId"] = self._state.subjects.highest_id
        return answer(body)

    async def schema_text(self, request: Request) -> Response:
        """GET /schemas/ids/ID/schema: nothing but its text."""
        found = self._state.by_id(id_of(request))
        return _plain(await self._text(request, found) or found.text)

    async def subjects_of_schema(self, request: Request) -> Response:
        """GET /schemas/ids/ID/subjects."""
        return answer([each.subject for each in self._places(request)])

    async def versions_of_schema(self, request: Request) -> Response:
        """GET /schemas/ids/ID/versions."""
        places = self._places(request)
        return answer([{"subject": each.subject, "version": each.version} for each in places])

    def _places(self, request: Request) -> list[StoredSchema]:
        schema_id = id_of(request)
        self._state.by_id(schema_id)
        subjects = self._state.subjects
        listed = sorted(subjects.places[schema_id])
        found = [subjects.versions[subject][version] for subject, version in listed]
        return [each for each in found if flag(request, "deleted") or not each.is_deleted]

    async def schemas(self, request: Request) -> Response:
        """GET /schemas: all of them, or those whose subjects begin with something."""
        prefix = request.query_params.get("subjectPrefix", "")
        subjects, deleted = self._state.subjects, flag(request, "deleted")
        found: list[StoredSchema] = []
        for name in subjects.names(deleted=deleted):
            if name.startswith(prefix):
                listed = subjects.of(name, deleted=deleted)
                found += listed[-1:] if flag(request, "latestOnly") else listed
        return answer([placed_schema(each) for each in found[page(request)]])

    # Subjects

    async def subjects(self, request: Request) -> Response:
        """GET /subjects."""
        prefix = request.query_params.get("subjectPrefix", "")
        found = self._state.subjects.names(
            deleted=flag(request, "deleted"), deleted_only=flag(request, "deletedOnly")
        )
        return answer([each for each in found if each.startswith(prefix)][page(request)])

    async def versions(self, request: Request) -> Response:
        """GET /subjects/SUBJECT/versions."""
        subject = subject_of(request)
        deleted, deleted_only = flag(request, "deleted"), flag(request, "deletedOnly")
        if not self._state.subjects.of(subject, deleted=deleted or deleted_only):
            self._state.version(subject, "latest")  # which says that there is none
        found = self._state.subjects.of(subject, deleted=deleted, deleted_only=deleted_only)
        return answer([each.version for each in found][page(request)])

    async def version(self, request: Request) -> Response:
        """GET /subjects/SUBJECT/versions/VERSION."""
        found = self._version(request)
        return answer(placed_schema(found, await self._text(request, found)))

    async def version_text(self, request: Request) -> Response:
        """GET /subjects/SUBJECT/versions/VERSION/schema: nothing but its text."""
        found = self._version(request)
        return _plain(await self._text(request, found) or found.text)

    async def referrers(self, request: Request) -> Response:
        """GET /subjects/SUBJECT/versions/VERSION/referencedby: ids of schemas that use it."""
        found = self._state.version(
            subject_of(request), request.path_params["version"], deleted=True
        )
        listed = self._state.subjects.referrers((found.subject, found.version))
        return answer(sorted({each.schema_id for each in listed}))

    def _version(self, request: Request) -> StoredSchema:
        subject, version = subject_of(request), request.path_params["version"]
        return self._state.version(subject, version, deleted=flag(request, "deleted"))

    async def look_up(self, request: Request) -> Response:
        """POST /subjects/SUBJECT: the version that has this schema."""
        new = await new_schema(await raw_body(request))
        subject, normalize = subject_of(request), flag(request, "normalize")
        deleted = flag(request, "deleted")
        found = await self._service.ask(
            lambda state: state.look_up(subject, new, normalize=normalize, deleted=deleted),
            len(new.text),
        )
        return answer(placed_schema(found, await self._text(request, found)))

    async def register(self, request: Request) -> Response:
        """POST /subjects/SUBJECT/versions."""
        subject, normalize = subject_of(request), flag(request, "normalize")

        async def prepare(data: bytes) -> "_Decide[StoredSchema]":
            new = await new_schema(data)
            return lambda state: state.register(subject, new, normalize=normalize)

        return await self._write(request, prepare, lambda schema: {"id": schema.schema_id})

    async def delete_subject(self, request: Request) -> Response:
        """DELETE /subjects/SUBJECT."""
        subject, permanent = subject_of(request), flag(request, "permanent")

        async def prepare(_: bytes) -> "_Decide[list[int]]":
            return lambda state: state.delete_subject(subject, permanent=permanent)

        return await self._write(request, prepare, list)

    async def delete_version(self, request: Request) -> Response:
        """DELETE /subjects/SUBJECT/versions/VERSION."""
        subject, permanent = subject_of(request), flag(request, "permanent")
        version = request.path_params["version"]

        async def prepare(_: bytes) -> "_Decide[int]":
            return lambda state: state.delete_version(subject, version, permanent=permanent)

        return await self._write(request, prepare, int)

    # Compatibility

    async def compatibility(self, request: Request) -> Response:
        """POST /compatibility/subjects/SUBJECT/versions, or …/versions/VERSION."""
        new = await new_schema(await raw_body(request))
        subject, version = subject_of(request), request.path_params.get("version")
        reasons = await self._service.ask(
            lambda state: state.is_compatible(subject, version, new), len(new.text)
        )
        body: dict[str, object] = {"is_compatible": not reasons}
        if flag(request, "verbose"):
            body["messages"] = reasons
        return answer(body)

    # Settings

    async def config(self, request: Request) -> Response:
        """GET /config, or /config/SUBJECT."""
        default = flag(request, "defaultToGlobal")
        return answer(
            self._state.settings.config(_subject_or_all(request), default_to_global=default)
        )

    async def set_config(self, request: Request) -> Response:
        """PUT /config, or /config/SUBJECT."""
        subject = _subject_or_all(request)

        async def prepare(data: bytes) -> "_Decide[Mapping[str, object]]":
            asked = await body_of(data)

            def decide(state: Decisions) -> Decided[Mapping[str, object]]:
                return Decided(asked, [state.settings.set_config(subject, asked)])

            return decide

        return await self._write(request, prepare, dict)

    async def delete_config(self, request: Request) -> Response:
        """DELETE /config, or /config/SUBJECT."""
        subject = _subject_or_all(request)

        async def prepare(_: bytes) -> "_Decide[dict[str, object]]":
            def decide(state: Decisions) -> Decided[dict[str, object]]:
                was, record = state.settings.delete_config(subject)
                return Decided(was, [record])

            return decide

        return await self._write(request, prepare, dict)

    async def mode(self, request: Request) -> Response:
        """GET /mode, or /mode/SUBJECT."""
        default = flag(request, "defaultToGlobal")
        subject = _subject_or_all(request)
        return answer({"mode": self._state.settings.mode(subject, default_to_global=default)})

    async def set_mode(self, request: Request) -> Response:
        """PUT /mode, or /mode/SUBJECT."""
        subject, force = _subject_or_all(request), flag(request, "force")

        async def prepare(data: bytes) -> "_Decide[str]":
            asked = (await body_of(data)).get("mode")

            def decide(state: Decisions) -> Decided[str]:
                record = state.settings.set_mode(subject, asked, force=force)
                return Decided(str(record.mode), [record])

            return decide

        return await self._write(request, prepare, lambda mode: {"mode": mode})

    async def delete_mode(self, request: Request) -> Response:
        """DELETE /mode, or /mode/SUBJECT."""
        subject = _subject_or_all(request)

        async def prepare(_: bytes) -> "_Decide[str]":
            def decide(state: Decisions) -> Decided[str]:
                was, record = state.settings.delete_mode(subject)
                return Decided(was, [record])

            return decide

        return await self._write(request, prepare, lambda mode: {"mode": mode})

    # Others

    async def contexts(self, _: Request) -> Response:
        """GET /contexts: there is the default one."""
        return answer(["."])

    async def no_context(self, request: Request) -> Response:
        """Anything within a context."""
        named = request.path_params["context"]
        raise RegistryRefused(42208, f"{named}: contexts are not supported")

    async def cluster(self, _: Request) -> Response:
        """GET /v1/metadata/id."""
        clusters = {"schema-registry-cluster": self._service.options.group}
        return answer({"scope": {"path": [], "clusters": clusters}, "id": ""})

    # How it is done

    async def _text(self, request: Request, schema: StoredSchema) -> str | None:
        """The text in another form, if one is asked for."""
        wanted = request.query_params.get("format", "")
        if wanted != _FORMAT_SERIALIZED:
            return None
        size = len(schema.text)
        return await self._service.ask(
            lambda state: state.resolution.stored(schema).serialized, size
        )

    async def _write(
        self,
        request: Request,
        prepare: "Callable[[bytes], Awaitable[_Decide[Answer]]]",
        shown: Callable[[Answer], object],
    ) -> Response:
        """Write here, or have it written by the one that leads."""
        data = await raw_body(request)
        service = self._service
        is_forwarded = FORWARDED in request.headers
        for attempt in range(_TRIES):
            leader = None if is_forwarded else await service.leader()
            if leader is not None:
                passed = await self._forwarding.forward(request, leader, data)
                await service.reader.reached(passed.offset, _READ_S)
                return passed.response
            try:
                written = await service.write(await prepare(data), len(data))
            except NotLeader:
                if is_forwarded or attempt == _TRIES - 1:
                    raise
            else:
                return answer(shown(written.answer), written.offset)
        raise AssertionError("the last attempt returns or raises")


_Decide = Callable[[Decisions], Decided[Answer]]


def _subject_or_all(request: Request) -> str | None:
    return subject_of(request) if "subject" in request.path_params else None


def _plain(text: str) -> Response:
    return PlainTextResponse(text, media_type=CONTENT_TYPE)
