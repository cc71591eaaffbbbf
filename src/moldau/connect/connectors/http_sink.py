"""Records sent to a web server, with the settings of Aiven's HTTP sink connector.

At least once: what was sent before a failure may be sent again.
"""

import base64
import http.client
import json
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from moldau.connect.config.definition import PluginSetting, at_least, one_of
from moldau.connect.config.values import flag, number, required
from moldau.connect.connector import Sink
from moldau.connect.errors import ConfigError, DataError, RetriableConnectError

_MAY_PASS = (408, 425, 429)
_SHOWN_BYTES = 200
_NONE, _STATIC = "none", "static"


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
        self._url = required(config, "http.url")
        parts = urllib.parse.urlsplit(self._url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
            raise ConfigError("http.url: it is no address of the form http://host/path")
        self._shown = parts._replace(query="", fragment="").geturl()
        """Without what may be a token."""
        self._headers = {
            "Content-Type": config.get("http.headers.content.type", "application/json"),
            **_additional(config.get("http.headers.additional", "")),
        }
        if config.get("http.authorization.type", _NONE) == _STATIC:
            self._headers["Authorization"] = required(config, "http.headers.authorization")
        self._timeout_s = number(config, "http.timeout", 30)
        self._batch_max = 1
        self._is_batched = flag(config, "batching.enabled", default=False)
        if self._is_batched:
            self._batch_max = number(config, "batch.max.size", 500)
        self._retries = number(config, "max.retries", 1)
        self._back_off_s = number(config, "retry.backoff.ms", 3000) / 1000
        self._closed = threading.Event()

    def write(self, table: pa.Table, batch_id: int) -> None:
        """In the order of the records; tombstones are null."""
        del batch_id
        values = table.column("value").to_pylist(maps_as_pydicts="strict")
        for body in self._bodies(values):
            self._send(body)

    def close(self) -> None:
        """Stop waiting for another attempt."""
        self._closed.set()

    def _bodies(self, values: Sequence[object]) -> Iterator[bytes]:
        if not self._is_batched:
            yield from map(_body, values)
            return
        for at in range(0, len(values), self._batch_max):
            yield b"[" + b",".join(map(_json, values[at : at + self._batch_max])) + b"]"

    def _send(self, body: bytes) -> None:
        retries_left = self._retries
        while True:
            try:
                return self._post(body)
            except RetriableConnectError:
                if retries_left <= 0 or self._closed.wait(self._back_off_s):
                    raise
                retries_left -= 1

    def _post(self, body: bytes) -> None:
        request = urllib.request.Request(  # noqa: S310 - the scheme was checked
            self._url, body, self._headers, method="POST"
        )
        try:
            with urllib.request.urlopen(request, timeout=self._timeout_s) as answer:  # noqa: S310
                answer.read(_SHOWN_BYTES)
        except urllib.error.HTTPError as error:
            with error:
                said = error.read(_SHOWN_BYTES).decode(errors="replace")
            text = f"{self._shown}: {error.code} {error.reason}: {said}"
            if error.code in _MAY_PASS or error.code >= 500:
                raise RetriableConnectError(text) from error
            raise DataError(text) from error
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            raise RetriableConnectError(f"{self._shown}: {reason}") from error


def _additional(text: str) -> dict[str, str]:
    """`name:value,name:value`."""
    found: dict[str, str] = {}
    for pair in filter(None, map(str.strip, text.split(","))):
        name, colon, value = pair.partition(":")
        if not colon or not name.strip() or not value.isprintable():
            raise ConfigError(f"http.headers.additional: {name} is none of NAME:VALUE")
        found[name.strip()] = value.strip()
    return found


def _body(value: object) -> bytes:
    """A text as it is, everything else as JSON."""
    return value.encode() if isinstance(value, str) else _json(value)


def _json(value: object) -> bytes:
    return json.dumps(value, default=_text, ensure_ascii=False, separators=(",", ":")).encode()


def _text(value: object) -> str:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else str(value)
