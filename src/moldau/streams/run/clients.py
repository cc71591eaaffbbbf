"""The settings of an application's clients: each kind is given those that it has."""

from collections.abc import Mapping
from dataclasses import fields

from moldau.client.java_settings import leave_out
from moldau.client.settings import (
    AdminSettings,
    ClientSettings,
    ConsumerSettings,
    ProducerSettings,
    dotted,
    read_settings,
)
from moldau.config.suggestion import unknown
from moldau.spark.client_settings import CLIENT_PREFIX
from moldau.spark.sink_options import SinkOptions

KINDS: tuple[type[ClientSettings], ...] = (ConsumerSettings, ProducerSettings, AdminSettings)
_SERVERS = "bootstrap.servers"


class ApplicationOptions:
    """Options as of the source: what begins with `kafka.` is for source, sink, admin and views.

    So a login is said once, and `kafka.compression.type` or `kafka.transaction.timeout.ms` go to
    the sink alone, which has them.
    """

    def __init__(self, bootstrap_servers: str, options: Mapping[str, str]) -> None:
        self.bootstrap_servers = bootstrap_servers
        given = {name.lower(): value for name, value in options.items()}
        self._of_source = {
            name: value
            for name, value in options.items()
            if not name.lower().startswith(CLIENT_PREFIX)
        }
        self._of_clients = {
            name.removeprefix(CLIENT_PREFIX): value
            for name, value in given.items()
            if name.startswith(CLIENT_PREFIX)
        }
        known = {name: name for kind in KINDS for name in _names(kind)}
        for name, value in self._of_clients.items():
            if name not in known and not leave_out(name, value):
                raise unknown("client", name, known)
        # What cannot be is said before anything starts.
        SinkOptions.read(self.sink)
        read_settings(AdminSettings, self.admin, {})
        read_settings(ConsumerSettings, self.view, {})

    @property
    def source(self) -> dict[str, str]:
        """Options of the source, which reads what is committed unless set otherwise."""
        clients = {"isolation.level": "read_committed", **self._settings(ConsumerSettings)}
        return {**self._of_source, **_prefixed(clients)}

    @property
    def sink(self) -> dict[str, str]:
        """Options of the sink."""
        return _prefixed(self._settings(ProducerSettings))

    @property
    def admin(self) -> dict[str, str]:
        """Settings of the client that makes topics."""
        return self._settings(AdminSettings)

    @property
    def view(self) -> dict[str, str]:
        """Settings of the consumers of views."""
        return self._settings(ConsumerSettings)

    def _settings(self, kind: type[ClientSettings]) -> dict[str, str]:
        names = _names(kind)
        found = {name: value for name, value in self._of_clients.items() if name in names}
        return {**found, _SERVERS: self.bootstrap_servers}


def _names(kind: type[ClientSettings]) -> set[str]:
    return {dotted(field.name) for field in fields(kind)}


def _prefixed(settings: Mapping[str, str]) -> dict[str, str]:
    return {f"{CLIENT_PREFIX}{name}": value for name, value in settings.items()}
