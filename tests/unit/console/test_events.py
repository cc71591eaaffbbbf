"""A tab has one stream, which says what is new and ends with the tab."""

import asyncio
import json

from starlette.types import Message

from moldau.console.events import news
from moldau.console.lag import GroupLag, PartitionLag
from moldau.console.sampling import NumbersSample, TopicNumbers
from moldau.model import TopicPartition
from unit.console.asking import API, Asking


def test_only_what_changed_is_sent() -> None:
    shown: dict[str, object] = {}
    topics = {"a": TopicNumbers(1, 1, 0.5, 10), "b": TopicNumbers(2, 2)}
    first = news(NumbersSample(1, topics), shown, has_topics=True)
    assert first["topics"] == {"a": [1, 0.5, 10, None], "b": [2, None, None, None]}
    assert (first["records"], first["bytes"], first["rate"]) == (3, 10, 0.5)
    topics["b"].records = 3
    assert news(NumbersSample(2, topics), shown, has_topics=True)["topics"] == {
        "b": [3, None, None, None]
    }
    assert "topics" not in news(NumbersSample(3, topics), shown, has_topics=False)


def test_partitions_are_sent_for_a_single_group() -> None:
    lag = GroupLag({TopicPartition("a", 0): PartitionLag(1, 0, 4)})

    def offsets(*names: str) -> list[object]:
        found = news(NumbersSample(1, groups=dict.fromkeys(names, lag)), {}, has_topics=False)
        groups = found["groups"]
        assert isinstance(groups, dict)
        return [each["offsets"] for each in groups.values()]

    assert offsets("one") == [[["a", 0, 1, 4, 3]]]
    assert offsets("one", "two") == [None, None]


def test_a_cluster_that_is_down_is_said() -> None:
    assert news(NumbersSample(1, error="down"), {}, has_topics=True)["error"] == "down"


async def test_a_stream_ends_with_its_tab(console: Asking) -> None:
    sampler = console.console.samplers["local"]
    gone = asyncio.Event()
    pieces: asyncio.Queue[str] = asyncio.Queue()

    async def receive() -> Message:
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        await pieces.put(message.get("body", b"").decode())

    scope = {
        "type": "http",
        "method": "GET",
        "path": f"{API}/events",
        "raw_path": f"{API}/events".encode(),
        "query_string": b"topics=1",
        "headers": [(b"host", b"localhost")],
        "root_path": "",
    }

    async def serve() -> None:
        await console.app(scope, receive, send)

    async with asyncio.TaskGroup() as tasks:
        serving = tasks.create_task(serve())
        while not (await pieces.get()).startswith("retry"):
            pass
        while sampler.watchers == 0:
            await asyncio.sleep(0)
        await sampler.take()
        event = await pieces.get()
        assert event.startswith("event: numbers\ndata: ")
        assert json.loads(event.removeprefix("event: numbers\ndata: "))["error"] is None
        gone.set()
        await serving
    assert sampler.watchers == 0
