"""Our broker and Apache's say the same to members of the consumer protocol (KIP-848)."""

import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from conformance.apache.broker import ApacheBroker
from conformance.apache.kraft import kraft_broker
from conformance.apache.marks import needs_apache
from conformance.consumer_twins import TOPICS, ConsumerTwin
from conformance.mixed_twins import MixedTwin
from conformance.our_broker import OurBroker, our_broker
from moldau.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from moldau.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from moldau.protocol.messages.delete_topics import DeleteTopicsRequest
from moldau.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from moldau.testing.wire import WireClient

pytestmark = needs_apache("kafka-3.9")

STEPS = 80
SEEDS = range(40)
MIXED_STEPS = 40
MIXED_SEEDS = range(12)
SETTINGS = {
    "group.coordinator.rebalance.protocols": "classic,consumer",
    "group.coordinator.append.linger.ms": "0",
    "group.consumer.migration.policy": "bidirectional",
    "group.consumer.max.size": "3",
}

Twins = tuple[OurBroker, ApacheBroker]


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twins]:
    directory: Path = tmp_path_factory.mktemp("twins")
    with (
        our_broker(directory / "ours", SETTINGS) as ours,
        kraft_broker(directory / "theirs", SETTINGS) as theirs,
    ):
        for broker in (ours, theirs):
            create_topics(broker.bootstrap)
        yield ours, theirs


def create_topics(bootstrap: str) -> None:
    topics = [topic(name, count) for name, count in TOPICS.items()]
    with WireClient(bootstrap) as client:
        client.ask(CreateTopicsRequest(topics=topics, timeout_ms=10_000), 5)
        asked = MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in TOPICS])
        while any(topic.error_code for topic in client.ask(asked, 8).topics):
            continue


def topic(name: str, partition_count: int) -> CreatableTopic:
    return CreatableTopic(
        name=name, num_partitions=partition_count, replication_factor=1, assignments=[], configs=[]
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_the_brokers_agree(twins: Twins, seed: int) -> None:
    told = []
    for broker in twins:
        with closing(ConsumerTwin(broker.bootstrap, f"group-{seed}")) as twin:
            told.append("\n".join(twin.play(seed, STEPS)))
    assert told[0] == told[1]


def test_the_brokers_agree_on_topics_that_come_and_grow_and_go(twins: Twins) -> None:
    told = [list(changing_topics(broker.bootstrap)) for broker in twins]
    assert told[0] == told[1]


def changing_topics(bootstrap: str) -> Iterator[str]:
    """What a member hears; how soon it hears of a change is chance."""
    source = random.Random(0)
    with closing(ConsumerTwin(bootstrap, "changing")) as twin:
        actor = twin.actors[0]
        actor.topics = ["comes"]
        yield twin.join(actor, source)

        def next_epoch() -> str:
            epoch, heard = actor.epoch, ""
            deadline = time.monotonic() + 20
            while actor.epoch == epoch:
                assert time.monotonic() < deadline, heard
                heard = twin.acknowledge(actor, source)
            return heard

        twin.client.ask(CreateTopicsRequest(topics=[topic("comes", 1)], timeout_ms=10_000), 5)
        twin.learn_topics("comes")
        yield next_epoch()
        growth = CreatePartitionsTopic(name="comes", count=3, assignments=None)
        request = CreatePartitionsRequest(topics=[growth], timeout_ms=10_000, validate_only=False)
        twin.client.ask(request, 2)
        yield next_epoch()
        twin.client.ask(DeleteTopicsRequest(topic_names=["comes"], timeout_ms=10_000), 5)
        yield next_epoch()


def test_the_brokers_agree_on_groups_that_change_their_protocol(twins: Twins) -> None:
    def play(case: tuple[str, int], name: str = "mixed") -> str:
        bootstrap, seed = case
        with closing(MixedTwin(bootstrap, f"{name}-{seed}")) as twin:
            return "\n".join(twin.play(seed, MIXED_STEPS))

    for broker in twins:  # a young virtual machine answers late, as if it had parked the request
        play((broker.bootstrap, -1))
    cases = [(broker.bootstrap, seed) for seed in MIXED_SEEDS for broker in twins]
    with ThreadPoolExecutor(len(cases)) as pool:
        told = list(pool.map(play, cases))
    for seed, ours, theirs in zip(MIXED_SEEDS, told[::2], told[1::2], strict=True):
        if ours != theirs:
            # On a busy machine a late answer looks parked too: once more, with nothing beside it.
            again = [play((broker.bootstrap, seed), "again") for broker in twins]
            assert again[0] == again[1], f"seed {seed}"
