"""A tab has one stream, which says what is new and ends with the tab."""

from moldau.console.events import news
from moldau.console.lag import GroupLag, PartitionLag
from moldau.console.sampling import NumbersSample, TopicNumbers
from moldau.model import TopicPartition
from unit.console.asking import Asking, streaming
from unit.waiting import until


def test_only_what_changed_is_sent() -> None:
    shown: dict[str, object] = {}
    topics = {"a": TopicNumbers(1, 1, 0.5, 10, last_write_ms=7), "b": TopicNumbers(2, 2)}
    first = news(NumbersSample(1, topics), shown, has_topics=True)
    assert first["topics"] == {"a": [1, 0.5, 10, None, 7], "b": [2, None, None, None, None]}
    assert (first["records"], first["bytes"], first["rate"]) == (3, 10, 0.5)
    topics["b"].records = 3
    assert news(NumbersSample(2, topics), shown, has_topics=True)["topics"] == {
        "b": [3, None, None, None, None]
    }
    assert news(NumbersSample(2, error="down"), shown, has_topics=True)["topics"] == {}
    del topics["a"]
    gone = news(NumbersSample(3, topics), shown, has_topics=True)
    assert gone["topics"] == {"a": None}, "it was deleted"
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
    async with streaming(console.app, "/events?topics=1") as stream:
        await until(lambda: sampler.watchers)
        await sampler.take()
        _, said = await stream.event("numbers")
        assert said["error"] is None
    assert sampler.watchers == 0
