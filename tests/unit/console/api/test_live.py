"""A tab follows a topic in its one stream, and the work ends with it."""

import asyncio

import pytest

from moldau.console.api import live
from moldau.console.running import ConsoleOptions, running_console
from moldau.console.seats import Seats
from moldau.testing.broker import EmbeddedBroker
from moldau.web.server import Binding
from unit.console.asking import Asking, streaming
from unit.waiting import until


async def written(console: Asking, topic: str, *values: str) -> None:
    for each in values:
        await console.send("POST", f"/topics/{topic}/messages", {"value": each})


async def test_records_and_numbers_come_in_one_stream(console: Asking) -> None:
    await console.send("POST", "/topics", {"name": "streamed", "partitions": 1})
    sampler = console.console.samplers["local"]
    async with streaming(console.app, "/topics/streamed/live?filter=o") as stream:
        at, said = await stream.event("live")
        assert (at, said["rows"]) == ("0:0", []), "where a pause would go on"
        await written(console, "streamed", "one", "three", "two")
        values: list[str] = []
        while len(values) < 2:
            at, said = await stream.event("live")
            values += [each["value"]["text"] for each in said["rows"]]
        assert values == ["one", "two"]
        assert at == said["cursor"] == "0:3"
        await sampler.take()
        await stream.event("numbers")
        assert (live.VIEWS.taken, sampler.watchers) == (1, 1)
    assert (live.VIEWS.taken, sampler.watchers) == (0, 0), "it ended with the tab"


async def test_a_tab_that_comes_back_goes_on_after_its_last_event(console: Asking) -> None:
    await console.send("POST", "/topics", {"name": "resumed", "partitions": 1})
    await written(console, "resumed", "a", "b", "c")
    last = {"last-event-id": "0:1"}
    async with streaming(console.app, "/topics/resumed/live?cursor=0:0", last) as stream:
        _, said = await stream.event("live")
    assert [each["value"]["text"] for each in said["rows"]] == ["b", "c"]
    wrong = await console.ask(
        "GET", "/api/clusters/local/topics/resumed/live", headers={"last-event-id": "x"}
    )
    assert wrong.status == 400


async def test_there_are_so_many_views_and_the_next_one_is_told(
    console: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "VIEWS", Seats("live views", total=9, each=0))
    async with streaming(console.app, "/topics/any/live") as stream:
        _, said = await stream.event("live")
    assert said["is_over"]
    assert "0 live views at once" in said["error"]


async def test_a_topic_that_is_not_there_is_said(console: Asking) -> None:
    async with streaming(console.app, "/topics/absent/live") as stream:
        _, said = await stream.event("live")
    assert "absent" in said["error"]


async def test_it_ends_with_the_console(console: Asking) -> None:
    await console.send("POST", "/topics", {"name": "ending", "partitions": 1})
    async with streaming(console.app, "/topics/ending/live") as stream:
        await stream.event("live")
        await console.console.samplers["local"].close()
        await until(lambda: not live.VIEWS.taken)


async def test_soon_after_a_tab_has_gone_nothing_is_done_for_it(
    broker: EmbeddedBroker, console: Asking
) -> None:
    await console.send("POST", "/topics", {"name": "closed", "partitions": 1})
    clusters = {"local": {"bootstrap.servers": broker.bootstrap_servers}}
    async with running_console(ConsoleOptions(clusters, Binding(0))) as url:
        port = int(url.rpartition(":")[2])
        reader, writer = await asyncio.open_connection("localhost", port)
        path = "/api/clusters/local/topics/closed/live"
        writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        await reader.readuntil(b"event: live")
        assert live.VIEWS.taken == 1
        writer.close()
        async with asyncio.timeout(10.0):  # within a second, on a machine that does nothing else
            await until(lambda: not live.VIEWS.taken)
