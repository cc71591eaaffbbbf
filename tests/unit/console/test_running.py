"""A console is served with what belongs to it, whether its cluster is up or not."""

import asyncio
import json
import time
import urllib.error
import urllib.request

import pytest

from moldau.console.access import Role
from moldau.console.running import ConsoleOptions, running_console
from moldau.web.server import Binding

DOWN = {"local": {"bootstrap.servers": "127.0.0.1:1"}}


def read(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=10) as answer:
        found: bytes = answer.read()
        return found


async def test_the_page_is_there_before_the_cluster_is() -> None:
    async with running_console(ConsoleOptions(DOWN, Binding(0))) as url:
        assert b"Moldau console" in await asyncio.to_thread(read, f"{url}/")
        found = json.loads(await asyncio.to_thread(read, f"{url}/api/console"))
    assert found["clusters"] == ["local"]
    own = {"name": "anonymous", "role": "admin", "beside": "admin", "grants": []}
    assert found["actor"] == own


async def test_with_logins_of_kafka_nobody_is_anonymous() -> None:
    async with running_console(ConsoleOptions(DOWN, Binding(0), has_kafka_logins=True)) as url:
        with pytest.raises(urllib.error.HTTPError, match="401"):
            await asyncio.to_thread(read, f"{url}/api/console")


async def test_open_streams_do_not_hold_up_the_end() -> None:
    async with running_console(ConsoleOptions(DOWN, Binding(0))) as url:
        stream = await asyncio.to_thread(
            urllib.request.urlopen, f"{url}/api/clusters/local/events", timeout=10
        )
        begun = time.monotonic()
    assert time.monotonic() - begun < 4, "it was ended, not waited for"
    stream.close()


def test_strangers_may_only_read_on_an_open_address() -> None:
    assert ConsoleOptions(DOWN, Binding(0)).rights.anonymous is Role.ADMIN
    assert ConsoleOptions(DOWN, Binding(0, host="0.0.0.0")).rights.anonymous is Role.READER
