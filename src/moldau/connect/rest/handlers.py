"""What Connect's REST interface does for each path and method."""

from collections.abc import Mapping
from urllib.parse import quote, unquote

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from moldau.connect.config.definition import kafka_settings
from moldau.connect.config.validation import settings_for
from moldau.connect.converters.lookup import CONVERTERS, HEADER_CONVERTERS
from moldau.connect.errors import ConfigError
from moldau.connect.storage.cluster_state import PAUSED, STARTED, STOPPED
from moldau.connect.transforms.chain import TRANSFORMATIONS
from moldau.connect.transforms.predicates import PREDICATES
from moldau.connect.worker.figures import metrics_of
from moldau.connect.worker.loggers import Loggers
from moldau.connect.worker.offsets import ConnectorOffsets
from moldau.connect.worker.operations import Operations
from moldau.connect.worker.plugins import KAFKA_VERSION
from moldau.web.bodies import read_json
from moldau.web.errors import WebError

_BODY_MAX_BYTES = 8 * 2**20
_COMMIT = "5e9866f43ab8e7e4"
_BAD, _FORBIDDEN, _NOT_FOUND, _UNSUPPORTED = 400, 403, 404, 415
_FIELDS = {"name", "config", "initial_state"}
_HEALTHY = "Worker has completed startup and is ready to handle requests."


class ConnectHandlers:
    """Answers from the operations of a worker."""

    def __init__(self, operations: Operations, cluster_id: str) -> None:
        self._do = operations
        self._offsets = ConnectorOffsets(operations)
        self._loggers = Loggers()
        self._cluster_id = cluster_id

    async def root(self, _: Request) -> Response:
        """GET /."""
        return _answer(
            {"version": KAFKA_VERSION, "commit": _COMMIT, "kafka_cluster_id": self._cluster_id}
        )

    async def health(self, _: Request) -> Response:
        """GET /health (KIP-1017)."""
        return _answer({"status": "healthy", "message": _HEALTHY})

    async def metrics(self, _: Request) -> Response:
        """GET /metrics, which Apache's have by JMX alone."""
        text = metrics_of(self._do.herder.running).text()
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

    # Connectors

    async def connectors(self, request: Request) -> Response:
        """GET /connectors."""
        asked = request.query_params.getlist("expand")
        if not asked:
            return _answer(self._do.names())
        found: dict[str, dict[str, object]] = {}
        for name in self._do.names():
            entry = found[name] = {}
            for each in asked:
                if each == "info":
                    entry["info"] = self._do.info(name)
                elif each == "status" and name in self._do.herder.running:
                    entry["status"] = self._do.status(name)
        return _answer(found)

    async def create(self, request: Request) -> Response:
        """POST /connectors."""
        body = await _object(request)
        unknown = sorted(set(body) - _FIELDS)
        if unknown:
            raise WebError(_BAD, f'Unrecognized field "{unknown[0]}"')
        config = body.get("config")
        if not isinstance(config, dict):
            raise WebError(_BAD, "config: the settings of the connector are missing")
        name, state = body.get("name") or "", body.get("initial_state")
        if not isinstance(name, str) or not (state is None or isinstance(state, str)):
            raise WebError(_BAD, "name and initial_state are texts")
        name = name.strip()
        info = await self._do.create(name, _texts(config), state)
        place = f"{request.base_url}connectors/{quote(name)}"
        return JSONResponse(info, 201, {"Location": place})

    async def info(self, request: Request) -> Response:
        """GET /connectors/NAME."""
        return _answer(self._do.info(_name(request)))

    async def config(self, request: Request) -> Response:
        """GET /connectors/NAME/config."""
        return _answer(self._do.config(_name(request)))

    async def put_config(self, request: Request) -> Response:
        """PUT /connectors/NAME/config."""
        info, is_new = await self._do.put(_name(request), _texts(await _object(request)))
        if not is_new:
            return _answer(info)
        place = f"{request.base_url}connectors/{quote(_name(request))}"
        return JSONResponse(info, 201, {"Location": place})

    async def patch_config(self, request: Request) -> Response:
        """PATCH /connectors/NAME/config (KIP-477)."""
        body = await _object(request)
        changes = {key: None if value is None else _text(key, value) for key, value in body.items()}
        return _answer(await self._do.patch(_name(request), changes))

    async def delete(self, request: Request) -> Response:
        """DELETE /connectors/NAME."""
        await self._do.delete(_name(request))
        return Response(status_code=204)

    async def status(self, request: Request) -> Response:
        """GET /connectors/NAME/status."""
        return _answer(self._do.status(_name(request)))

    async def tasks(self, request: Request) -> Response:
        """GET /connectors/NAME/tasks."""
        return _answer(self._do.tasks(_name(request)))

    async def task_configs(self, request: Request) -> Response:
        """GET /connectors/NAME/tasks-config, which is deprecated."""
        name = _name(request)
        listed = self._do.tasks(name)
        return _answer({f"{name}-{at}": each["config"] for at, each in enumerate(listed)})

    async def task_status(self, request: Request) -> Response:
        """GET /connectors/NAME/tasks/N/status."""
        return _answer(self._do.task_status(_name(request), _task(request)))

    async def restart_task(self, request: Request) -> Response:
        """POST /connectors/NAME/tasks/N/restart."""
        self._do.restart_task(_name(request), _task(request))
        return Response(status_code=204)

    async def restart(self, request: Request) -> Response:
        """POST /connectors/NAME/restart."""
        include, failed = _flag(request, "includeTasks"), _flag(request, "onlyFailed")
        shown = self._do.restart(_name(request), include_tasks=include, only_failed=failed)
        if include or failed:
            return JSONResponse(shown, 202)
        return Response(status_code=204)

    async def pause(self, request: Request) -> Response:
        """PUT /connectors/NAME/pause."""
        await self._do.set_target(_name(request), PAUSED)
        return Response(status_code=202)

    async def resume(self, request: Request) -> Response:
        """PUT /connectors/NAME/resume."""
        await self._do.set_target(_name(request), STARTED)
        return Response(status_code=202)

    async def stop(self, request: Request) -> Response:
        """PUT /connectors/NAME/stop (KIP-875)."""
        await self._do.set_target(_name(request), STOPPED)
        return Response(status_code=204)

    # Offsets and topics

    async def offsets(self, request: Request) -> Response:
        """GET /connectors/NAME/offsets."""
        return _answer(await self._offsets.get(_name(request)))

    async def alter_offsets(self, request: Request) -> Response:
        """PATCH /connectors/NAME/offsets."""
        return _answer(await self._offsets.alter(_name(request), await _object(request)))

    async def reset_offsets(self, request: Request) -> Response:
        """DELETE /connectors/NAME/offsets."""
        return _answer(await self._offsets.reset(_name(request)))

    async def topics(self, request: Request) -> Response:
        """GET /connectors/NAME/topics (KIP-558)."""
        self._check_tracking()
        name = _name(request)
        found = self._do.herder.state.topics.get(name, set())
        return _answer({name: {"topics": sorted(found)}})

    async def reset_topics(self, request: Request) -> Response:
        """PUT /connectors/NAME/topics/reset."""
        self._check_tracking()
        self._do.herder.forget_topics(_name(request))
        return Response(status_code=202)

    def _check_tracking(self) -> None:
        if not self._do.herder.settings.tracks_topics:
            raise WebError(_FORBIDDEN, "Topic tracking is disabled.")

    # Plugins

    async def plugins(self, request: Request) -> Response:
        """GET /connector-plugins."""
        only = request.query_params.get("connectorsOnly", "true").lower() != "false"
        return _answer(self._do.herder.plugins.listed(connectors_only=only))

    async def plugin_config(self, request: Request) -> Response:
        """GET /connector-plugins/PLUGIN/config."""
        name = unquote(request.path_params["plugin"])
        try:
            plugin = self._do.herder.plugins.find(name)
        except ConfigError:
            known = (*TRANSFORMATIONS, *PREDICATES, *CONVERTERS, *HEADER_CONVERTERS)
            short = [each for each in known if "$" not in name and each.endswith(f".{name}")]
            if name not in known and not short:
                raise WebError(_NOT_FOUND, f"Unknown plugin {name}.") from None
            full = name if name in known else short[0]
            return _answer([each.as_json() for each in kafka_settings(full)])
        own = list(plugin.settings)
        shared = settings_for(plugin.kind, ())
        return _answer([each.as_json() for each in (*own, *shared)])

    async def validate(self, request: Request) -> Response:
        """PUT /connector-plugins/PLUGIN/config/validate."""
        name = unquote(request.path_params["plugin"])
        config = _texts(await _object(request))
        given = config.get("connector.class")
        if given is not None:
            plugin = self._do.plugin(config)
            if not plugin.answers_to(name):
                raise WebError(
                    _BAD,
                    f"Included connector type {given} does not match request type {name}",
                )
        return _answer((await self._do.validate(config)).as_json())

    # Loggers

    async def loggers(self, _: Request) -> Response:
        """GET /admin/loggers."""
        return _answer(self._loggers.all())

    async def logger(self, request: Request) -> Response:
        """GET /admin/loggers/LOGGER."""
        name = unquote(request.path_params["logger"])
        found = self._loggers.one(name)
        if found is None:
            raise WebError(_NOT_FOUND, f"Logger {name} not found.")
        return _answer(found)

    async def set_logger(self, request: Request) -> Response:
        """PUT /admin/loggers/LOGGER."""
        level = (await _object(request)).get("level")
        if not isinstance(level, str):
            raise WebError(_BAD, "Desired 'level' parameter was not specified in request.")
        changed = self._loggers.set(unquote(request.path_params["logger"]), level)
        if changed is None:
            raise WebError(_NOT_FOUND, f"invalid log level '{level}'.")
        if request.query_params.get("scope", "").lower() == "cluster":
            return Response(status_code=204)
        return _answer(changed)


def _answer(value: object) -> Response:
    return JSONResponse(value)


def _name(request: Request) -> str:
    found: str = unquote(request.path_params["name"])
    return found


def _task(request: Request) -> int:
    found: str = request.path_params["task"]
    if not found.isascii() or not found.isdigit() or len(found) > 9:
        raise WebError(_NOT_FOUND, "HTTP 404 Not Found")
    return int(found)


def _flag(request: Request, name: str) -> bool:
    return request.query_params.get(name, "").lower() == "true"


async def _object(request: Request) -> Mapping[str, object]:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise WebError(_UNSUPPORTED, "HTTP 415 Unsupported Media Type")
    found = await read_json(request, _BODY_MAX_BYTES)
    if not isinstance(found, dict):
        raise WebError(_BAD, "the body is an object")
    return found


def _texts(config: Mapping[str, object]) -> dict[str, str]:
    """Settings are texts; numbers and truth values are taken as such."""
    return {key: _text(key, value) for key, value in config.items() if value is not None}


def _text(key: str, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    raise WebError(_BAD, f"{key}: a setting is a text")
