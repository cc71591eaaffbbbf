"""A tab has one stream, which says what is new and ends with the tab."""

from moldau.console.events import WantedNumbers, news, numbers_event
from moldau.console.lag import GroupLag, PartitionLag
from moldau.console.sampling import NumbersSample, TopicNumbers
from moldau.model import TopicPartition
from unit.console.asking import Asking, streaming
from unit.waiting import until

TOPICS, ALL_GROUPS = WantedNumbers(has_topics=True), WantedNumbers(groups=None)


def lag(committed: int) -> GroupLag:
    return GroupLag({TopicPartition("a", 0): PartitionLag(committed, 0, 4)})


def test_only_what_changed_is_sent() -> None:
    a = TopicNumbers(1, 1, 0.5, 10, last_write_ms=7)
    one = NumbersSample(1, {"a": a, "b": TopicNumbers(2, 2)})
    first = news(one, None, TOPICS)
    assert first["topics"] == {"a": [1, 0.5, 10, None, 7], "b": [2, None, None, None, None]}
    assert (first["records"], first["bytes"], first["rate"]) == (3, 10, 0.5)
    assert first["bytes_in"] is None
    two = NumbersSample(2, {"a": a, "b": TopicNumbers(3, 3)}, bytes_in=(2, 64.0))
    assert news(two, one, TOPICS)["bytes_in"] == (2, 64.0)
    assert news(two, one, TOPICS)["topics"] == {"b": [3, None, None, None, None]}
    gone = news(NumbersSample(3, {"b": TopicNumbers(3, 3)}), two, TOPICS)
    assert gone["topics"] == {"a": None}, "it was deleted"
    assert "topics" not in news(two, one, WantedNumbers())


def test_of_many_groups_the_lag_is_sent_where_it_changed() -> None:
    one = NumbersSample(1, groups={"a": lag(1), "b": lag(2)})
    two = NumbersSample(2, groups={"a": lag(1), "b": lag(3)})
    row = {"lag": 1, "is_partial": False, "error": None, "offsets": None}
    assert news(two, one, ALL_GROUPS)["groups"] == {"b": row}


def test_whoever_names_groups_is_told_of_their_partitions_and_of_no_others() -> None:
    sample = NumbersSample(1, groups={"a": lag(1), "b": lag(2)})
    said = news(sample, sample, WantedNumbers(groups=frozenset(["b", "unknown"])))
    row = {"lag": 2, "is_partial": False, "error": None, "offsets": [["a", 0, 2, 4, 2]]}
    assert said["groups"] == {"b": row}
    assert "groups" not in news(sample, None, WantedNumbers())


def test_two_hundred_tabs_that_know_the_same_are_told_by_one_text() -> None:
    before = NumbersSample(1, {"a": TopicNumbers(1, 1)})
    sample = NumbersSample(2, {"a": TopicNumbers(2, 2)})
    told = {id(numbers_event(sample, before, WantedNumbers(has_topics=True))) for _ in range(200)}
    assert len(told) == 1
    assert numbers_event(sample, before, TOPICS) != numbers_event(sample, before, ALL_GROUPS)


def test_a_cluster_that_is_down_is_said() -> None:
    assert news(NumbersSample(1, error="down"), None, TOPICS) == {"at": 1, "error": "down"}


async def test_a_tab_that_missed_a_sample_is_told_what_changed_since_its_last(
    console: Asking,
) -> None:
    sampler = console.console.samplers["local"]
    async with streaming(console.app, "/events?topics=1") as stream:
        await until(lambda: sampler.watchers)
        for sample in (
            NumbersSample(10, {"a": TopicNumbers(1, 1)}),
            NumbersSample(11, error="down"),
            NumbersSample(12, {"a": TopicNumbers(1, 1), "b": TopicNumbers(2, 2)}),
        ):
            await sampler.publish(sample)
            _, said = await stream.event("numbers")
        assert list(said["topics"]) == ["b"]


async def test_a_stream_ends_with_its_tab(console: Asking) -> None:
    sampler = console.console.samplers["local"]
    async with streaming(console.app, "/events?topics=1") as stream:
        await until(lambda: sampler.watchers)
        await sampler.take()
        _, said = await stream.event("numbers")
        assert said["error"] is None
    assert sampler.watchers == 0
