"""A registry with everything that belongs to it, started and stopped together."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from moldau.registry.rest.app import StartingApp, registry_app
from moldau.registry.rest.forwarding import Forwarding
from moldau.registry.service import RegistryOptions, RegistryService
from moldau.web.server import Binding, serving

if TYPE_CHECKING:
    from moldau.web.users import Users

PORT = 8081


@dataclass(frozen=True, slots=True)
class RegistryFrontage:
    """How clients and other registries reach it."""

    binding: Binding
    users: "Users | None" = None
    advertised_url: str | None = None
    """Where other registries reach this one, if not where it listens."""
    trusted: str | None = None
    """A file with authorities that the other registries' certificates are from."""


@asynccontextmanager
async def running_registry(
    options: RegistryOptions, frontage: RegistryFrontage
) -> AsyncIterator[tuple[str, RegistryService]]:
    """Serve until the block ends; it begins when the topic has been read."""
    opening = StartingApp()
    async with serving(opening, frontage.binding) as url:
        service = RegistryService(options, frontage.advertised_url or url)
        async with service.running():
            opening.app = registry_app(
                service,
                frontage.users,
                is_loopback=frontage.binding.is_loopback,
                forwarding=Forwarding(frontage.trusted),
            )
            yield url, service
