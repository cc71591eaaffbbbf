"""The keys of an identity provider, read again now and then, and never while a client waits."""

import asyncio
import logging
import ssl
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import Request

from moldau.broker.login.bearer_settings import KeySource
from moldau.config.values import config_error
from moldau.runtime.threads import in_thread
from moldau.security.tls import TlsSettings, client_context
from moldau.security.web_fetch import DOCUMENT_MAX_BYTES, FetchFailed, fetch
from moldau.security.web_keys import WebKey, read_keys

_log = logging.getLogger(__name__)

# Anybody can name a key that is not there; only so often is that worth a look.
_UNKNOWN_INTERVAL_S = 10.0


class KeySet:
    """The keys of one source."""

    def __init__(self, source: KeySource) -> None:
        self._source = source
        self._keys: Mapping[str, WebKey] = {}
        self._read = _reader(source)
        self._is_wanted = asyncio.Event()
        self._read_at_s = 0.0

    async def load(self) -> None:
        """Read the keys once; a file must be there, a server may come later."""
        try:
            await self._refresh()
        except (FetchFailed, ValueError) as error:
            if urlsplit(self._source.url).scheme == "file":
                where = "sasl.oauthbearer.jwks.endpoint.url"
                raise config_error(f"{where}: {self._source.url}: {error}") from error
            self._warn(error)

    async def run(self) -> None:
        """Read them again, until cancelled."""
        source, failures = self._source, 0
        while True:
            wait_s = source.refresh_ms / 1000
            if failures:
                backoff_ms = source.backoff_ms * 2 ** min(failures - 1, 16)
                wait_s = min(backoff_ms, source.backoff_max_ms) / 1000
            await self._until_due(wait_s)
            try:
                await self._refresh()
            except (FetchFailed, ValueError) as error:
                failures += 1
                self._warn(error)
            else:
                failures = 0

    def find(self, key_id: object) -> WebKey | None:
        """A key by its id; one that is not there may have come by the next login."""
        key = self._keys.get(key_id) if isinstance(key_id, str) else None
        if key is None:
            self._is_wanted.set()
        return key

    async def _until_due(self, wait_s: float) -> None:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(wait_s):
                await self._is_wanted.wait()
                since_s = loop.time() - self._read_at_s
                await asyncio.sleep(max(0.0, _UNKNOWN_INTERVAL_S - since_s))
        except TimeoutError:
            pass

    async def _refresh(self) -> None:
        self._read_at_s = asyncio.get_running_loop().time()
        self._is_wanted.clear()
        keys = read_keys(await in_thread(self._read))
        if not keys:
            raise ValueError("no key in it can be used")
        self._keys = keys

    def _warn(self, error: Exception) -> None:
        _log.warning("Failed to read the keys for bearer tokens, retrying: %s", error)


def _reader(source: KeySource) -> Callable[[], bytes]:
    parts = urlsplit(source.url)
    if parts.scheme == "file":
        path = Path(unquote(parts.path))
        return lambda: _read_file(path)
    context = _context(source.trust)
    request = Request(source.url, headers={"Accept": "application/json"})  # noqa: S310 - https
    return lambda: fetch(request, timeout_s=source.timeout_ms / 1000, context=context)


def _read_file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(DOCUMENT_MAX_BYTES)
    except OSError as error:
        raise FetchFailed(error.strerror or str(error)) from error


def _context(trust: Mapping[str, str]) -> ssl.SSLContext:
    names = ("truststore.location", "truststore.password", "truststore.type")
    given = {name.replace(".", "_"): trust.get(f"ssl.{name}", "") for name in names}
    return client_context(TlsSettings(**given))
