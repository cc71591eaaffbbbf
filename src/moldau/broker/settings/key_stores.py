"""Keys and trust of the listeners: read at start, and again when settings or files change.

Connections that are there keep what they began with. What is wrong with a new file is logged,
and the old one stays in use.
"""

import asyncio
import logging
import ssl
from collections.abc import Callable

from moldau.config.effective import BrokerLayers
from moldau.config.listener_settings import ListenerSettings
from moldau.config.listeners import ListenerConfig, Listeners
from moldau.errors import ErrorCode, InvalidConfig, KafkaError
from moldau.runtime.threads import in_thread
from moldau.security.listener_tls import (
    OVER_TLS,
    ListenerTls,
    TlsSource,
    make_tls,
    refuse_unfit,
    require_agreement,
    require_same_owner,
    source_of,
)

_log = logging.getLogger(__name__)

LOOK_INTERVAL_S = 60.0


class KeyStores:
    """The TLS of every listener that has it."""

    def __init__(self, listeners: Listeners, layers: BrokerLayers) -> None:
        """InvalidConfig if a listener could not do its work."""
        self._layers = layers
        among_brokers = (listeners.inter_broker_name, listeners.control_plane_name)
        self._listeners = [one for one in listeners.bound if one.protocol in OVER_TLS]
        self._among_brokers = frozenset(filter(None, among_brokers))
        self._is_news = asyncio.Event()
        self._prepared: dict[TlsSource, ListenerTls] = {}
        self._current = {one.name: self._opened(one) for one in self._listeners}

    def server_context(self, listener: str) -> Callable[[], ssl.SSLContext] | None:
        """Finds the context of a new connection to a listener; None without TLS."""
        return (lambda: self._current[listener].server) if listener in self._current else None

    def client_context(self, listener: str) -> Callable[[], ssl.SSLContext] | None:
        """Finds the context of a new connection to that listener of another broker."""
        return (lambda: self._current[listener].client) if listener in self._current else None

    async def check(self, layers: BrokerLayers) -> None:
        """Raise INVALID_REQUEST if listeners could not go over to these settings."""
        for listener in self._listeners:
            try:
                made = await self._renewed(listener, layers)
            except InvalidConfig as error:
                raise KafkaError(
                    ErrorCode.INVALID_REQUEST,
                    "Invalid value org.apache.kafka.common.config.ConfigException: Validation of "
                    f"dynamic config update of SSLFactory failed: {error} for configuration "
                    "Invalid dynamic configuration",
                ) from error
            if made is not None:
                self._prepared = {made.source: made}

    def apply(self, layers: BrokerLayers) -> None:
        """Go over to these settings, at once if they were checked here."""
        self._layers = layers
        for listener in self._listeners:
            source = self._source(listener, layers)
            made = self._prepared.pop(source, None)
            if made is not None:
                self._replace(listener, made)
            elif source != self._current[listener.name].source:
                self._is_news.set()

    def look_again(self) -> None:
        """Look at the files now; for SIGHUP."""
        self._is_news.set()

    async def run(self) -> None:
        """Look at the files every minute, and when there is news, until cancelled."""
        while self._listeners:
            try:
                async with asyncio.timeout(LOOK_INTERVAL_S):
                    await self._is_news.wait()
            except TimeoutError:
                pass
            self._is_news.clear()
            await self._look()

    async def _look(self) -> None:
        for listener in self._listeners:
            try:
                made = await self._renewed(listener, self._layers)
            except InvalidConfig as error:
                _log.error(
                    "Failed to renew the key store of %s, the old one stays: %s",
                    listener.name,
                    error,
                )
            else:
                if made is not None:
                    self._replace(listener, made)

    def _replace(self, listener: ListenerConfig, made: ListenerTls) -> None:
        self._current[listener.name] = made
        _log.info("new connections to %s have the renewed key and trust stores", listener.name)

    async def _renewed(self, listener: ListenerConfig, layers: BrokerLayers) -> ListenerTls | None:
        """What takes the place of a listener's TLS; None if nothing has changed."""
        old = self._current[listener.name]
        source = self._source(listener, layers)
        if source == old.source:
            return None
        new = await in_thread(lambda: make_tls(source))
        tls = layers.config.tls
        require_same_owner(
            old,
            new,
            may_name_change=tls.ssl_allow_dn_changes,
            may_names_go=tls.ssl_allow_san_changes,
        )
        if listener.name in self._among_brokers:
            require_agreement(old, new)
        return new

    def _opened(self, listener: ListenerConfig) -> ListenerTls:
        refuse_unfit(ListenerSettings(self._layers.texts, listener.name))
        try:
            made = make_tls(self._source(listener, self._layers))
            if listener.name in self._among_brokers:
                require_agreement(made, made)
        except InvalidConfig as error:
            raise KafkaError(ErrorCode.INVALID_CONFIG, f"listener {listener}: {error}") from error
        return made

    def _source(self, listener: ListenerConfig, layers: BrokerLayers) -> TlsSource:
        return source_of(ListenerSettings(layers.texts, listener.name), listener.protocol)
