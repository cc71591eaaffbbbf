"""Records sent to a web server, with the settings of Aiven's HTTP sink connector.

At least once: what was sent before a failure may be sent again.
"""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from moldau.connect.config.definition import PluginSetting, at_least, one_of
from moldau.connect.config.values import flag, number, required
from moldau.connect.connector import Sink
from moldau.connect.connectors.web.exchange import (
    WebExchange,
    WebRefusal,
    checked_url,
    header_pairs,
)
from moldau.connect.errors import DataError

_NONE, _STATIC = "none", "static"
_ADDITIONAL = "http.headers.additional"


class HttpSink(Sink):
    """One request per record, or per batch with `batching.enabled`."""

    settings = (
        PluginSetting("http.url", required=True, importance="HIGH"),
        PluginSetting("http.authorization.type", default=_NONE, check=one_of(_NONE, _STATIC)),
        PluginSetting("http.headers.authorization", "PASSWORD"),
        PluginSetting("http.headers.content.type", default="application/json"),
        PluginSetting("http.headers.additional", "LIST", ""),
        PluginSetting("http.timeout", "INT", "30", check=at_least(1)),
        PluginSetting("batching.enabled", "BOOLEAN", "false"),
        PluginSetting("batch.max.size", "INT", "500", check=at_least(1)),
        PluginSetting("max.retries", "INT", "1"),
        PluginSetting("retry.backoff.ms", "INT", "3000"),
    )

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        self._url = checked_url("http.url", required(config, "http.url"))
        headers = {
            "Content-Type": config.get("http.headers.content.type", "application/json"),
            **header_pairs(_ADDITIONAL, config.get(_ADDITIONAL, ""), ","),
        }
        if config.get("http.authorization.type", _NONE) == _STATIC:
            headers["Authorization"] = required(config, "http.headers.authorization")
        self._batch_max = 1
        self._is_batched = flag(config, "batching.enabled", default=False)
        if self._is_batched:
            self._batch_max = number(config, "batch.max.size", 500)
        self._exchange = WebExchange(
            headers,
            number(config, "http.timeout", 30),
            number(config, "max.retries", 1),
            number(config, "retry.backoff.ms", 3000) / 1000,
        )

    def write(self, table: pa.Table, batch_id: int) -> None:
        """In the order of the records; tombstones are null."""
        del batch_id
        values = table.column("value").to_pylist(maps_as_pydicts="strict")
        for body in self._bodies(values):
            self._send(body)

    def close(self) -> None:
        """Stop waiting for another attempt."""
        self._exchange.close()

    def _bodies(self, values: Sequence[object]) -> Iterator[bytes]:
        if not self._is_batched:
            yield from map(_body, values)
            return
        for at in range(0, len(values), self._batch_max):
            yield b"[" + b",".join(map(_json, values[at : at + self._batch_max])) + b"]"

    def _send(self, body: bytes) -> None:
        try:
            self._exchange.send(self._url, body)
        except WebRefusal as error:
            raise DataError(str(error)) from error


def _body(value: object) -> bytes:
    """A text as it is, everything else as JSON."""
    return value.encode() if isinstance(value, str) else _json(value)


def _json(value: object) -> bytes:
    return json.dumps(value, default=_text, ensure_ascii=False, separators=(",", ":")).encode()


def _text(value: object) -> str:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else str(value)
