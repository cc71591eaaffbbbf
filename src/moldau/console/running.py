"""A console with everything that belongs to it, started and stopped together."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from moldau.client.registry import Registry
from moldau.client.serdes.registered import RegisteredValues
from moldau.console.access import ConsoleRights, Role
from moldau.console.app import console_app
from moldau.console.audit import AuditTrail
from moldau.console.cluster import ConsoleCluster
from moldau.console.endpoints import Console
from moldau.console.login.kafka import KafkaLogins
from moldau.console.login.oidc import OidcProvider
from moldau.console.login.sessions import BrowserLogins
from moldau.console.masking import Masks
from moldau.console.rules import ConsoleRules
from moldau.console.sampling import Sampler
from moldau.console.services.rest import RestService
from moldau.web.server import Binding, serving

if TYPE_CHECKING:
    from moldau.console.audit_topic import TrailTopic
    from moldau.console.login.oidc import OidcOptions
    from moldau.web.proxies import TrustedProxy
    from moldau.web.users import Users


@dataclass(frozen=True, slots=True)
class ConsoleOptions:
    """What a console shows, where, and to whom."""

    clusters: Mapping[str, Mapping[str, object]]
    """Settings of clients by the names of clusters."""
    binding: Binding
    users: "Users | None" = None
    is_read_only: bool = False
    audit: str | None = None
    """A file for what is done; the log if there is none."""
    audit_topic: str | None = None
    """A topic of the first cluster for the same, besides."""
    registry: str | None = None
    """The address of a schema registry."""
    connect: Mapping[str, str] = field(default_factory=dict)
    """Addresses of Connect's workers by their names."""
    streams: Mapping[str, str] = field(default_factory=dict)
    """Addresses of streams applications by their names."""

    rules: ConsoleRules = field(default_factory=ConsoleRules)
    """Roles by topics, and what is hidden of records."""
    proxy: "TrustedProxy | None" = None
    oidc: "OidcOptions | None" = None
    has_kafka_logins: bool = False
    """Whether users log in with names and passwords of Kafka, and act as themselves."""

    @property
    def rights(self) -> ConsoleRights:
        """Without users everything is allowed on this machine; others may only read."""
        anonymous = Role.ADMIN if self.binding.is_loopback else Role.READER
        return ConsoleRights(anonymous, self.is_read_only, self.rules.grants)


@asynccontextmanager
async def running_console(options: ConsoleOptions) -> AsyncIterator[str]:
    """Serve until the block ends, and yield the address; clusters need not be up."""
    clusters = {name: ConsoleCluster(name, given) for name, given in options.clusters.items()}
    oidc = options.oidc
    audited = _audit_topic(options)
    console = Console(
        clusters,
        {name: Sampler(each) for name, each in clusters.items()},
        options.rights,
        AuditTrail(options.audit, None if audited is None else audited.put),
        _registered(options.registry),
        None if options.registry is None else RestService(options.registry),
        {name: RestService(url) for name, url in options.connect.items()},
        {name: RestService(url) for name, url in options.streams.items()},
        Masks(options.rules.masks),
        None if oidc is None else BrowserLogins(is_secure=oidc.url.startswith("https:")),
    )
    logins = KafkaLogins(options.clusters) if options.has_kafka_logins else None
    app = console_app(
        console,
        options.users,
        is_loopback=options.binding.is_loopback,
        proxy=options.proxy,
        provider=None if oidc is None else OidcProvider(oidc),
        logins=logins,
    )
    async with asyncio.TaskGroup() as tasks:
        if logins is not None:
            logins.tasks = tasks
        working = [tasks.create_task(each.run()) for each in console.samplers.values()]
        if audited is not None:
            working.append(tasks.create_task(audited.run()))
        try:
            async with serving(app, options.binding) as url:
                try:
                    yield url
                finally:  # or the server would wait for streams that do not end
                    for sampler in console.samplers.values():
                        await sampler.close()
                    if logins is not None:
                        await logins.close()
            if audited is not None:
                await audited.close()
        finally:
            for each in working:
                each.cancel()
            for cluster in clusters.values():
                await cluster.close()


def _audit_topic(options: ConsoleOptions) -> "TrailTopic | None":
    if options.audit_topic is None:
        return None
    from moldau.console.audit_topic import TrailTopic  # noqa: PLC0415 - few have one

    return TrailTopic(next(iter(options.clusters.values())), options.audit_topic)


def _registered(url: str | None) -> RegisteredValues | None:
    return None if url is None else RegisteredValues(Registry(url, timeout_s=5.0))
