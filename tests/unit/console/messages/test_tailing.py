"""A view follows a topic, shows a bounded part of it, and says what it left out."""

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager

import pytest

from moldau.client.admin.admin import Admin
from moldau.client.admin.topics import NewTopic
from moldau.client.producer.producer import Producer
from moldau.console.filters.language import parse
from moldau.console.messages import tailing
from moldau.console.messages.query import MessageQuery, read_cursor
from moldau.console.messages.scanning import readers
from moldau.console.messages.tailing import FRAME_ROWS_MAX, KEPT_ROWS_MAX, LiveFrame, Tail, follow
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker, running_broker


async def write(broker: EmbeddedBroker, topic: str, *values: bytes) -> None:
    async with Producer(bootstrap_servers=broker.bootstrap_servers, linger_ms=50) as producer:
        for each in values:
            await producer.send(topic, each)


async def created(broker: EmbeddedBroker, topic: str) -> Mapping[str, object]:
    settings = {"bootstrap.servers": broker.bootstrap_servers}
    async with Admin(settings) as admin:
        (await admin.create_topics([NewTopic(topic, 1)])).check()
    return settings


@asynccontextmanager
async def tail(
    settings: Mapping[str, object], topic: str, query: MessageQuery | None = None, **cursor: int
) -> AsyncIterator[Tail]:
    query = query or MessageQuery()
    async with readers(settings, is_uncommitted=query.is_uncommitted) as reading:
        found = Tail(reading, topic, query)
        await found.open({int(name[1:]): at for name, at in cursor.items()})
        yield found


async def frames(of: Tail, count: int) -> list[LiveFrame]:
    """Frames until so many records were shown or left out."""
    found: list[LiveFrame] = []
    while sum(len(each.rows) + each.jumped + each.dropped for each in found) < count:
        found.append(await of.step())
    return found


def texts(found: list[LiveFrame]) -> list[str]:
    return [str(row["value"]["text"]) for each in found for row in each.rows]  # type: ignore[index]


async def test_only_what_comes_is_shown(broker: EmbeddedBroker) -> None:
    settings = await created(broker, "tailed")
    await write(broker, "tailed", b"old")
    async with tail(settings, "tailed") as following:
        await write(broker, "tailed", b"new", b"other")
        found = await frames(following, 2)
    assert texts(found) == ["new", "other"]
    assert found[-1].cursor == "0:3"
    async with tail(settings, "tailed", MessageQuery(filter=parse("o")), p0=1) as following:
        (last,) = [each for each in await frames(following, 1) if each.rows]
    assert (texts([last]), last.dropped, last.scanned) == (["other"], 0, 2), "goes on, and filters"


async def test_a_burst_is_shown_frame_by_frame_and_what_is_too_much_is_said(
    broker: EmbeddedBroker,
) -> None:
    settings = await created(broker, "burst")
    async with tail(settings, "burst") as following:
        values = [b"%d" % each for each in range(KEPT_ROWS_MAX + 200)]
        await write(broker, "burst", *values)
        found = await frames(following, len(values))
    assert max(len(each.rows) for each in found) == FRAME_ROWS_MAX
    shown = texts(found)
    assert len(shown) + sum(each.dropped for each in found) == len(values)
    assert shown == sorted(shown, key=int)
    assert shown[-1] == values[-1].decode(), "the newest are kept"
    assert read_cursor(found[-1].cursor) == {0: len(values)}


async def test_a_cursor_does_not_pass_what_is_kept_back(broker: EmbeddedBroker) -> None:
    settings = await created(broker, "kept")
    await write(broker, "kept", *[b"x"] * (FRAME_ROWS_MAX + 10))
    async with tail(settings, "kept", p0=0) as following:
        (first,) = [each for each in await frames(following, FRAME_ROWS_MAX) if each.rows]
    assert first.cursor == f"0:{FRAME_ROWS_MAX}"


async def test_a_view_that_stays_behind_goes_on_near_the_end(
    broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tailing, "_BEHIND_S", 0.0)
    settings = await created(broker, "fast")
    values = [b"%04d" % each + b"x" * 2000 for each in range(1500)]
    await write(broker, "fast", *values)
    query = MessageQuery()
    async with readers(settings, is_uncommitted=False, sizes=tailing.SIZES) as reading:
        following = Tail(reading, "fast", query)
        await following.open({0: 0})
        found = await frames(following, len(values))
    assert sum(each.jumped for each in found) > 0
    assert found[-1].scanned < len(values), "not all was read"
    assert texts(found)[-1].startswith("1499")


async def test_transactions_are_followed_with_their_markers(broker: EmbeddedBroker) -> None:
    settings = await created(broker, "transacted")
    query = MessageQuery(is_uncommitted=True)
    async with (
        tail(settings, "transacted", query) as following,
        Producer(settings, transactional_id="followed") as producer,
    ):
        await producer.begin_transaction()
        await producer.send_and_wait("transacted", b"a")
        (row,) = [row for each in await frames(following, 1) for row in each.rows]
        assert (row["state"], row["offset"]) == ("open", "0")
        await producer.abort_transaction()
        (row,) = [row for each in await frames(following, 1) for row in each.rows]
        assert (row["state"], row["offset"]) == ("abort marker", "1")
        frame = await following.step()
    assert frame.cursor == "0:2", "markers are passed"


async def test_what_is_gone_is_said(broker: EmbeddedBroker) -> None:
    settings = await created(broker, "gone")
    await write(broker, "gone", *[b"x"] * 10)
    async with Admin(settings) as admin:
        await admin.delete_records({TopicPartition("gone", 0): 6})
    async with tail(settings, "gone", p0=2) as following:
        found = await frames(following, 8)
    assert (sum(each.jumped for each in found), len(texts(found))) == (4, 4)


async def test_it_goes_on_after_the_cluster_was_restarted() -> None:
    with running_broker() as broker:
        settings = await created(broker, "restarted")
        seen: list[str] = []
        async with aclosing(follow(settings, "restarted", MessageQuery(cursor={0: 0}))) as coming:
            await write(broker, "restarted", b"before")
            async for frame in coming:
                seen += texts([frame])
                if seen == ["before"]:
                    break
            broker.restart()
            await write(broker, "restarted", b"after")
            async for frame in coming:
                seen += texts([frame])
                if "after" in seen:
                    break
        assert seen == ["before", "after"], "each once"


async def test_there_are_ten_frames_a_second_at_most(broker: EmbeddedBroker) -> None:
    settings = await created(broker, "paced")
    await write(broker, "paced", *[b"x"] * (5 * FRAME_ROWS_MAX))
    async with aclosing(follow(settings, "paced", MessageQuery(cursor={0: 0}))) as coming:
        times = [time.monotonic() async for frame in _with_rows(coming, 5)]
    # A frame may come late in its time, and the next one at once.
    assert times[-1] - times[0] >= 3 * 0.09


async def _with_rows(coming: AsyncIterator[LiveFrame], count: int) -> AsyncIterator[LiveFrame]:
    async for frame in coming:
        if frame.rows:
            yield frame
            count -= 1
            if not count:
                return


async def test_a_cluster_that_does_not_answer_is_said_and_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("moldau.console.messages.reading.API_TIMEOUT_MS", 50)
    settings = {"bootstrap.servers": "127.0.0.1:1"}
    async with aclosing(follow(settings, "any", MessageQuery())) as coming:
        frame = await anext(coming)
    assert frame.error
    assert frame.has_news
