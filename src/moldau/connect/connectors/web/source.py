"""JSON of a web server into topics, by polling, with the settings of Confluent's HTTP source.

The offset is what stands for `${offset}` in the next request. It is stored together with the
records of the answer before it, so each answer is in the topic once. An answer without a next
page may grow: it is asked for again, and what it had before is left out by its count.
"""

import base64
import json
import time
from collections.abc import Mapping, Sequence
from urllib.parse import quote, urljoin, urlsplit

from moldau.connect.config.definition import PluginSetting, at_least, one_of
from moldau.connect.config.values import flag, listed, number, required
from moldau.connect.connector import Offset, Source, SourceBatch, SourcePartition
from moldau.connect.connectors.web.exchange import WebExchange, checked_url, header_pairs, shown_url
from moldau.connect.connectors.web.pointers import JsonPointer
from moldau.connect.data.inference import fitted, inferred
from moldau.connect.data.record import NULL, ConnectRecord, Datum
from moldau.connect.errors import ConfigError, ConnectError

_INCREMENTING, _CHAINING, _CURSOR = "SIMPLE_INCREMENTING", "CHAINING", "CURSOR_PAGINATION"
_NONE, _BASIC, _BEARER = "NONE", "BASIC", "BEARER"
_ENTITY, _OFFSET, _SEEN = "entity", "offset", "seen"
_HOLE, _ENTITY_HOLE = "${offset}", "${entityName}"
_PARAMETERS, _BODY = "http.request.parameters", "http.request.body"
_POINTERS = ("http.response.data", "http.offset", "http.next.page", "http.key")


class HttpSource(Source):
    """Each entity is a partition."""

    settings = (
        PluginSetting("url", required=True, importance="HIGH"),
        PluginSetting("entity.names", "LIST", ""),
        PluginSetting("topic.name.pattern", required=True, importance="HIGH"),
        PluginSetting("http.request.method", default="GET", check=one_of("GET", "POST")),
        PluginSetting("http.request.headers", "PASSWORD", ""),
        PluginSetting("http.request.headers.separator", default="|"),
        PluginSetting(_PARAMETERS, default=""),
        PluginSetting(_BODY, default=""),
        PluginSetting("http.initial.offset", default=""),
        PluginSetting(
            "http.offset.mode",
            default=_INCREMENTING,
            check=one_of(_INCREMENTING, _CHAINING, _CURSOR),
        ),
        *(PluginSetting(f"{each}.json.pointer", default="") for each in _POINTERS),
        PluginSetting("infer.schema", "BOOLEAN", "false"),
        PluginSetting("request.interval.ms", "INT", "15000", check=at_least(1)),
        PluginSetting("http.request.timeout.ms", "INT", "30000", check=at_least(1)),
        PluginSetting("http.response.max.bytes", "INT", str(64 * 2**20), check=at_least(1)),
        PluginSetting("max.retries", "INT", "5"),
        PluginSetting("retry.backoff.ms", "INT", "3000"),
        PluginSetting("auth.type", default=_NONE, check=one_of(_NONE, _BASIC, _BEARER)),
        PluginSetting("connection.user"),
        PluginSetting("connection.password", "PASSWORD"),
        PluginSetting("bearer.token", "PASSWORD"),
    )

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        self._url = required(config, "url")
        self._topic = required(config, "topic.name.pattern")
        self._mode = config.get("http.offset.mode", _INCREMENTING)
        self._infers = flag(config, "infer.schema", default=False)
        self._initial = config.get("http.initial.offset", "")
        first = self._url.replace(_HOLE, self._initial)
        self._origin = _origin(checked_url("url", first))
        self.poll_interval_s = number(config, "request.interval.ms", 15_000) / 1000
        self._data, self._offset, self._next, self._key = (
            JsonPointer(f"{each}.json.pointer", config.get(f"{each}.json.pointer", ""))
            for each in _POINTERS
        )
        self._check_mode()
        self.runs_anywhere = self._asks_for_more
        self._exchange = WebExchange(
            _headers(config),
            number(config, "http.request.timeout.ms", 30_000) / 1000,
            number(config, "max.retries", 5),
            number(config, "retry.backoff.ms", 3000) / 1000,
            number(config, "http.response.max.bytes", 64 * 2**20),
        )
        self._asked_at_s: dict[str, float] = {}

    def _check_mode(self) -> None:
        wanted = {_CHAINING: "http.offset", _CURSOR: "http.next.page"}.get(self._mode)
        if wanted is not None and not self.config.get(f"{wanted}.json.pointer"):
            raise ConfigError(f"http.offset.mode={self._mode} needs {wanted}.json.pointer")
        if self._mode != _INCREMENTING and not self._asks_for_more:
            raise ConfigError(f"http.offset.mode={self._mode} needs {_HOLE} in the request")
        if self._mode == _INCREMENTING and self._asks_for_more and not self._initial.isdecimal():
            raise ConfigError(
                f"http.initial.offset: http.offset.mode={_INCREMENTING} begins with a number"
            )

    @property
    def _asks_for_more(self) -> bool:
        """Whether another request gets something else."""
        texts = (self._url, self.config.get(_PARAMETERS, ""), self.config.get(_BODY, ""))
        return any(_HOLE in text for text in texts)

    def partitions(self) -> Sequence[SourcePartition]:
        """An entity each, or one without a name."""
        return [{_ENTITY: each} for each in listed(self.config, "entity.names") or [""]]

    def read(
        self, partition: SourcePartition, start: Offset | None, limit: int
    ) -> SourceBatch | None:
        """The records of one answer, however many."""
        del limit
        entity = str(partition[_ENTITY])
        left_s = self._asked_at_s.get(entity, 0.0) + self.poll_interval_s - time.monotonic()
        if entity in self._asked_at_s and left_s > 0:
            return None
        self._asked_at_s[entity] = time.monotonic()
        known = dict(start or {_OFFSET: self._initial, _SEEN: 0})
        document = self._ask(entity, str(known[_OFFSET]))
        found = self._data.find(document)
        records = found if isinstance(found, list) else [] if found is None else [found]
        new = records[_count(known.get(_SEEN, 0)) :]
        reached = self._reached(known, document, records)
        if not new and reached == known:
            return None
        if reached[_OFFSET] != known[_OFFSET]:
            del self._asked_at_s[entity]
        topic = self._topic.replace(_ENTITY_HOLE, entity)
        return SourceBatch([], reached, self._made(topic, new))

    def _reached(
        self, known: Mapping[str, object], document: object, records: Sequence[object]
    ) -> dict[str, object]:
        """Where the next request begins."""
        offset = known[_OFFSET]
        if self._mode == _CURSOR:
            following = self._next.find(document)
            if following in (None, "", offset):
                return {_OFFSET: offset, _SEEN: max(_count(known.get(_SEEN, 0)), len(records))}
            return {_OFFSET: str(following), _SEEN: 0}
        if self._mode == _CHAINING and records:
            last = self._offset.find(records[-1])
            if last is None:
                raise ConnectError(f"{shown_url(self._url)}: a record has no offset to go on from")
            offset = str(last)
        elif self._mode == _INCREMENTING and self._asks_for_more:
            offset = str(_count(offset) + len(records))
        return {_OFFSET: offset, _SEEN: 0}

    def _ask(self, entity: str, offset: str) -> object:
        url = self._filled(self._url, entity, offset, is_path=True)
        if self._url == _HOLE:
            url = urljoin(self._initial, url)
        given = self.config.get(_PARAMETERS, "")
        parameters = self._filled(given, entity, offset, is_path=True)
        if parameters:
            url = f"{url}{'&' if '?' in url else '?'}{parameters}"
        if _origin(url) != self._origin:
            raise ConnectError(f"{shown_url(url)} is another server than {self._origin}")
        body = self._filled(self.config.get(_BODY, ""), entity, offset)
        method = self.config.get("http.request.method", "GET")
        answer = self._exchange.send(url, body.encode() if method == "POST" else None, method)
        try:
            return json.loads(answer.body) if answer.body.strip() else None
        except ValueError as error:
            raise ConnectError(f"{shown_url(url)}: the answer is no JSON: {error}") from error

    def _filled(self, text: str, entity: str, offset: str, *, is_path: bool = False) -> str:
        """With names and offsets in their places; an offset that is a whole address stays one."""
        if is_path and text != _HOLE:
            entity, offset = quote(entity, safe=""), quote(offset, safe="")
        return text.replace(_HOLE, offset).replace(_ENTITY_HOLE, entity)

    def _made(self, topic: str, values: Sequence[object]) -> list[ConnectRecord]:
        schema = inferred(values) if self._infers else None
        shown = values if schema is None else [fitted(schema, each) for each in values]
        return [
            ConnectRecord(topic, self._key_of(value), Datum(datum, schema))
            for value, datum in zip(values, shown, strict=True)
        ]

    def _key_of(self, value: object) -> Datum:
        if not self.config.get("http.key.json.pointer"):
            return NULL
        found = self._key.find(value)
        return Datum(found, inferred([found]) if self._infers else None)

    def check_offset(self, partition: SourcePartition, offset: Offset | None) -> None:
        """Of this connector."""
        if partition not in self.partitions():
            raise ConnectError(f"{dict(partition)} is none of {list(self.partitions())}")
        if offset is not None and not isinstance(offset.get(_OFFSET), str):
            raise ConnectError(f"{dict(offset)} is no offset of this connector: it has an `offset`")

    def close(self) -> None:
        """Stop waiting for another attempt."""
        self._exchange.close()


def _headers(config: Mapping[str, str]) -> dict[str, str]:
    separator = config.get("http.request.headers.separator", "|")
    text = config.get("http.request.headers", "")
    found = {"Accept": "application/json", **header_pairs("http.request.headers", text, separator)}
    kind = config.get("auth.type", _NONE)
    if kind == _BASIC:
        login = f"{required(config, 'connection.user')}:{required(config, 'connection.password')}"
        found["Authorization"] = f"Basic {base64.b64encode(login.encode()).decode()}"
    if kind == _BEARER:
        found["Authorization"] = f"Bearer {required(config, 'bearer.token')}"
    return found


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _count(value: object) -> int:
    text = str(value)
    if not text.isdecimal():
        raise ConnectError(f"{text} is no number of records")
    return int(text)
