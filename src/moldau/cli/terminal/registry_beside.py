"""A schema registry in the process of a broker, whose topic that broker keeps."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from moldau.config.listeners import ListenerConfig, SecurityProtocol
from moldau.config.values import config_error

_log = logging.getLogger(__name__)


@asynccontextmanager
async def registry_beside(listener: ListenerConfig, port: int) -> AsyncIterator[None]:
    """Run one for this machine while the block lasts; the port is that of the registry."""
    if listener.protocol is not SecurityProtocol.PLAINTEXT:
        raise config_error(
            f"--registry has no credentials for {listener.name}: start `moldau registry "
            "--command-config FILE` beside this broker"
        )
    try:
        from moldau.registry.running import RegistryFrontage, running_registry  # noqa: PLC0415
        from moldau.registry.service import RegistryOptions  # noqa: PLC0415
        from moldau.web.server import Binding  # noqa: PLC0415
    except ImportError as error:
        raise config_error(f"--registry: {error}: pip install 'moldau[registry]'") from error

    host = listener.host or "localhost"
    servers = f"{f'[{host}]' if ':' in host else host}:{listener.port}"
    options = RegistryOptions({"bootstrap.servers": servers})
    async with running_registry(options, RegistryFrontage(Binding(port))) as (url, _):
        _log.info("the schema registry is at %s", url)
        yield
