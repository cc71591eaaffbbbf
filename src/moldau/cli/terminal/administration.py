"""The Admin client of a command, by its options."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import fields
from typing import TypeVar

from moldau.cli.terminal.client_settings import read_file, usable
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.options import Given
from moldau.client.admin.configs import ConfigResource, ConfigsArea
from moldau.client.admin.connected import Connected
from moldau.client.settings import AdminSettings, dotted
from moldau.errors import KafkaError

Client = TypeVar("Client", bound=Connected)
Result = TypeVar("Result")


class _SettingsClient(ConfigsArea, Connected):
    """An admin client that knows of settings alone."""


def run_admin(
    given: Given,
    kind: type[Client],
    work: Callable[[Client], Awaitable[Result]],
    *,
    timeout_ms: int | None = None,
) -> Result:
    """Run `work` with a client of this kind for the cluster that the options name.

    Kinds have only the areas that a command needs: loading all takes longer than the answer.
    Each request may take `timeout_ms`, or else what the settings say.
    """

    values = settings(given)
    if timeout_ms is not None:
        values |= {"request.timeout.ms": timeout_ms, "default.api.timeout.ms": timeout_ms}

    async def run() -> Result:
        async with administration(kind, values) as admin:
            return await work(admin)

    return asyncio.run(run())


def settings(given: Given) -> dict[str, object]:
    """The client's settings: of the file, and where the cluster is."""
    servers = given.text("bootstrap-server") or given.text("broker-list")
    if not servers:
        raise CommandFailed("--bootstrap-server must be specified")
    file = given.text("command-config") or given.text("admin.config")
    texts = {"client.id": "moldau-admin"} | read_file(file) | {"bootstrap.servers": servers}
    return usable(AdminSettings, texts)


@asynccontextmanager
async def administration(kind: type[Client], values: Mapping[str, object]) -> AsyncIterator[Client]:
    """A client that is connected; settings that only other clients have are left out."""
    known = {dotted(field.name) for field in fields(AdminSettings)}
    async with kind({name: each for name, each in values.items() if name in known}) as admin:
        yield admin


async def topic_settings(
    values: Mapping[str, object], topics: Iterable[str], name: str
) -> dict[str, str]:
    """One setting of each of these topics, as far as brokers return it."""
    resources = {ConfigResource.topic(topic): [name] for topic in topics}
    try:
        async with administration(_SettingsClient, values) as admin:
            found = await admin.describe_configs(resources)
    except KafkaError:
        return {}
    return {
        resource.name: entries[name].value or ""
        for resource, entries in found.succeeded.items()
        if name in entries
    }
