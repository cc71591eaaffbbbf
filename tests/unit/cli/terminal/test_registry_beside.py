"""A registry runs in a broker's process."""

import asyncio
import logging

import pytest

from moldau.cli.terminal.registry_beside import registry_beside
from moldau.config.listeners import ListenerConfig, SecurityProtocol
from moldau.errors import InvalidConfig
from moldau.testing.broker import EmbeddedBroker
from unit.registry.started import request


async def test_it_uses_the_brokers_listener(
    kafka: EmbeddedBroker, caplog: pytest.LogCaptureFixture
) -> None:
    host, _, port = kafka.bootstrap_servers.rpartition(":")
    listener = ListenerConfig("PLAINTEXT", SecurityProtocol.PLAINTEXT, host, int(port))
    with caplog.at_level(logging.INFO):
        async with registry_beside(listener, 0):
            (line,) = [each for each in caplog.messages if "schema registry is at" in each]
            url = line.rpartition(" ")[2]
            assert await asyncio.to_thread(request, url, "GET", "/subjects") == (200, [])


async def test_it_has_no_credentials() -> None:
    listener = ListenerConfig("SASL_SSL", SecurityProtocol.SASL_SSL, "", 9092)
    with pytest.raises(InvalidConfig, match="moldau registry"):
        async with registry_beside(listener, 0):
            pass
