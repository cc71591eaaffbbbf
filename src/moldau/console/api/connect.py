"""Connectors of Kafka Connect, anybody's: by its REST interface alone."""

import asyncio
import json
from collections.abc import Mapping

from moldau.console.access import Role
from moldau.console.bodies import Sent, confirm, objects_of, text_of
from moldau.console.endpoints import PREFIX, ApiCall, ApiEndpoint
from moldau.console.services.connectors import (
    fields,
    masked,
    row,
    secrets_of,
    tasks,
    unmasked,
    without,
)
from moldau.console.services.rest import RestService, list_in, object_in, text_in
from moldau.web.errors import WebError

_CONNECT = f"{PREFIX}/connect"
_WORKER = f"{_CONNECT}/{{worker}}"
_CONNECTOR = f"{_WORKER}/connectors/{{connector}}"
_ACTIONS = {"pause": "PUT", "resume": "PUT", "stop": "PUT"}
_OLDER = (404, 405)  # what Connect before 3.6 says of offsets


async def workers(call: ApiCall) -> object:
    """All connectors of all workers; one that does not answer is marked, the rest is shown."""
    known = call.console.connect
    found = await asyncio.gather(*(_worker(name, service) for name, service in known.items()))
    return {"workers": list(found)}


async def _worker(name: str, service: RestService) -> dict[str, object]:
    shown: dict[str, object] = {"worker": name, "address": service.address, "connectors": []}
    try:
        root = await service.ask("GET")
        expanded = {"expand": "status"}
        status = object_in(await service.ask("GET", "connectors", query=expanded))
        info = object_in(await service.ask("GET", "connectors", query={"expand": "info"}))
    except WebError as error:
        return {**shown, "error": error.message}
    rows = []
    for connector in sorted(status):
        both = {**object_in(info, connector), **object_in(status, connector)}
        rows.append(row(connector, both, secrets_of(object_in(both, "info", "config"))))
    return {**shown, "version": text_in(root, "version"), "connectors": rows}


async def connector(call: ApiCall) -> object:
    """One connector: its settings without secrets, its tasks with their errors, its offsets."""
    service, name = _service(call), call.path("connector")
    status, config, offsets, topics = await asyncio.gather(
        service.ask("GET", "connectors", name, "status"),
        service.ask("GET", "connectors", name, "config"),
        _offsets(service, name),
        _topics(service, name),
    )
    settings = object_in(config)
    secrets = secrets_of(settings)
    return {
        **row(name, {"status": status, "info": {"config": settings}}, secrets),
        "worker": call.path("worker"),
        "address": service.address,
        "parts": tasks(object_in(status), secrets),
        "config": masked(settings),
        "offsets": offsets,
        "topics": topics,
    }


async def _offsets(service: RestService, name: str) -> list[dict[str, str]] | None:
    """Offsets as JSON texts, since browsers round large numbers; None if they are not given."""
    try:
        answer = await service.ask("GET", "connectors", name, "offsets")
    except WebError as error:
        if error.status in _OLDER or error.status >= 500:
            return None
        raise
    return [
        {part: json.dumps(object_in(each).get(part)) for part in ("partition", "offset")}
        for each in list_in(answer, "offsets")
    ]


async def _topics(service: RestService, name: str) -> list[str]:
    try:
        answer = await service.ask("GET", "connectors", name, "topics")
    except WebError:  # which workers may have switched off
        return []
    return [str(each) for each in list_in(answer, name, "topics")]


async def plugins(call: ApiCall) -> object:
    """What connectors can be made of."""
    found = await _service(call).ask("GET", "connector-plugins")
    return {
        "plugins": [
            {name: text_in(each, name) for name in ("class", "type", "version")}
            for each in list_in(found)
        ]
    }


async def plan(call: ApiCall) -> object:
    """The form of a connector, with errors at its fields; nothing is made."""
    sent = await call.body()
    service = _service(call)
    config = await _config(service, sent, text_of(sent, "connector", " ").strip())
    plugin = config.get("connector.class", "")
    if not plugin:
        raise WebError(400, "config: connector.class is missing")
    answer = await service.ask(
        "PUT", "connector-plugins", plugin, "config", "validate", body=config
    )
    secrets = secrets_of(config)
    shown = fields(answer)
    for each in shown:
        errors = each["errors"]
        assert isinstance(errors, list), "made as one"
        each["errors"] = [without(secrets, str(error)) for error in errors]
    return {"fields": shown, "errors": sum(bool(each["errors"]) for each in shown)}


async def _config(service: RestService, sent: Sent, name: str) -> dict[str, str]:
    given = sent.get("config")
    if not isinstance(given, dict) or not given:
        raise WebError(400, "config: an object of texts")
    current: Mapping[str, object] = {}
    if name:
        current = object_in(await service.ask("GET", "connectors", name, "config"))
    return unmasked(given, current)


async def create(call: ApiCall) -> object:
    """Make a connector."""
    sent = await call.body()
    name = text_of(sent, "name")
    service = _service(call)
    config = {**await _config(service, sent, ""), "name": name}
    await service.ask("POST", "connectors", body={"name": name, "config": config})
    return {"created": name}


async def put_config(call: ApiCall) -> object:
    """Change the settings of a connector; masked secrets stay as they are."""
    service, name = _service(call), call.path("connector")
    config = await _config(service, await call.body(), name)
    await service.ask("PUT", "connectors", name, "config", body={**config, "name": name})
    return {"changed": name}


async def delete(call: ApiCall) -> object:
    """Delete a connector."""
    name = call.path("connector")
    confirm(await call.body(), name, "delete the connector")
    await _service(call).ask("DELETE", "connectors", name)
    return {"deleted": name}


async def restart(call: ApiCall) -> object:
    """Start a connector again with its tasks, or only those parts that have failed."""
    only_failed = (await call.body()).get("only_failed") is True
    query = {"includeTasks": "true", "onlyFailed": str(only_failed).lower()}
    name = call.path("connector")
    await _service(call).ask("POST", "connectors", name, "restart", query=query)
    return {"restarted": name}


def _acting(action: str) -> ApiEndpoint:
    async def act(call: ApiCall) -> object:
        """Have the workers do it; they need a moment."""
        name = call.path("connector")
        await _service(call).ask(_ACTIONS[action], "connectors", name, action)
        return {action: name}

    path = f"{_CONNECTOR}/{action}"
    return ApiEndpoint("POST", path, Role.OPERATOR, f"{action.capitalize()} a connector", act)


async def reset_offsets(call: ApiCall) -> object:
    """Forget all offsets of a connector that is stopped."""
    name = call.path("connector")
    confirm(await call.body(), name, "reset its offsets")
    return await _with_stopped(call, "DELETE")


async def alter_offsets(call: ApiCall) -> object:
    """Set offsets of a connector that is stopped; an offset of null forgets that partition."""
    wanted = objects_of(await call.body(), "offsets")
    if not all(isinstance(each.get("partition"), dict) for each in wanted):
        raise WebError(400, "offsets: objects with partition and offset, which are objects")
    return await _with_stopped(call, "PATCH", {"offsets": wanted})


async def _with_stopped(call: ApiCall, method: str, body: object = None) -> object:
    service, name = _service(call), call.path("connector")
    status = await service.ask("GET", "connectors", name, "status")
    state = text_in(object_in(status, "connector"), "state")
    if state != "STOPPED":
        raise WebError(409, f"{name} is {state.lower()}: stop it first, and resume it after")
    answer = await service.ask(method, "connectors", name, "offsets", body=body)
    return {"message": text_in(answer, "message") or "done"}


def _service(call: ApiCall) -> RestService:
    name = call.path("worker")
    found = call.console.connect.get(name)
    if found is None:
        raise WebError(404, f"there is no worker {name}: moldau console --connect names them")
    return found


_CONFIG = {"config": "settings by name, as texts; masked secrets stay as they are"}
ENDPOINTS = (
    ApiEndpoint("GET", _CONNECT, Role.VIEWER, "Workers of Connect and their connectors", workers),
    ApiEndpoint("GET", f"{_WORKER}/plugins", Role.VIEWER, "Classes of connectors", plugins),
    ApiEndpoint(
        "POST",
        f"{_WORKER}/plan",
        Role.ADMIN,
        "The form of a connector, with errors at its fields",
        plan,
        body={**_CONFIG, "connector": "one that is there, whose secrets are meant"},
    ),
    ApiEndpoint(
        "POST",
        f"{_WORKER}/connectors",
        Role.ADMIN,
        "Make a connector",
        create,
        body={"name": "its name", **_CONFIG},
    ),
    ApiEndpoint("GET", _CONNECTOR, Role.VIEWER, "A connector", connector),
    ApiEndpoint(
        "DELETE",
        _CONNECTOR,
        Role.ADMIN,
        "Delete a connector",
        delete,
        body={"confirm": "its name again"},
    ),
    ApiEndpoint(
        "PUT",
        f"{_CONNECTOR}/config",
        Role.ADMIN,
        "Change the settings of a connector",
        put_config,
        body=_CONFIG,
    ),
    ApiEndpoint(
        "POST",
        f"{_CONNECTOR}/restart",
        Role.OPERATOR,
        "Restart a connector and its tasks",
        restart,
        body={"only_failed": "true: what runs is left alone"},
    ),
    *(_acting(action) for action in _ACTIONS),
    ApiEndpoint(
        "DELETE",
        f"{_CONNECTOR}/offsets",
        Role.OPERATOR,
        "Reset the offsets of a stopped connector",
        reset_offsets,
        body={"confirm": "its name again"},
    ),
    ApiEndpoint(
        "PATCH",
        f"{_CONNECTOR}/offsets",
        Role.OPERATOR,
        "Set offsets of a stopped connector",
        alter_offsets,
        body={"offsets": "objects with partition and offset; null forgets the partition"},
    ),
)
