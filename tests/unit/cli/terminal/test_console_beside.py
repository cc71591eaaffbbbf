"""A console runs beside a broker, in a process of its own that ends with it."""

import asyncio
import json
import logging
import urllib.request

import pytest

from moldau.cli.terminal.console_beside import console_beside
from moldau.config.listeners import ListenerConfig, SecurityProtocol
from moldau.errors import InvalidConfig
from moldau.testing.broker import EmbeddedBroker


def read(url: str) -> object:
    with urllib.request.urlopen(url, timeout=20) as answer:
        return json.load(answer)


async def test_it_shows_the_brokers_cluster_and_ends_with_it(
    kafka: EmbeddedBroker, caplog: pytest.LogCaptureFixture
) -> None:
    host, _, port = kafka.bootstrap_servers.rpartition(":")
    listener = ListenerConfig("PLAINTEXT", SecurityProtocol.PLAINTEXT, host, int(port))
    with caplog.at_level(logging.INFO):
        async with console_beside(listener, 0):
            (line,) = [each for each in caplog.messages if "the console is at" in each]
            url = line.rpartition(" ")[2]
            found = await asyncio.to_thread(read, f"{url}/api/clusters/local/topics")
            assert found == {"topics": []}
            with pytest.raises(InvalidConfig, match="did not start"):
                async with console_beside(listener, int(url.rpartition(":")[2])):
                    pass
    with pytest.raises(OSError, match="refused"):
        await asyncio.to_thread(read, f"{url}/api/console")


async def test_it_has_no_credentials() -> None:
    listener = ListenerConfig("SASL_SSL", SecurityProtocol.SASL_SSL, "", 9092)
    with pytest.raises(InvalidConfig, match="moldau console"):
        async with console_beside(listener, 0):
            pass
