"""Our broker and Apache's say the same to members of the consumer protocol (KIP-848)."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from conformance.apache.broker import ApacheBroker
from conformance.apache.kraft import kraft_broker
from conformance.apache.marks import needs_apache
from conformance.consumer_twins import TOPICS, ConsumerTwin
from conformance.our_broker import OurBroker, our_broker
from moldau.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from moldau.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from moldau.testing.wire import WireClient

pytestmark = needs_apache("kafka-3.9")

STEPS = 80
SEEDS = range(40)
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
    topics = [
        CreatableTopic(
            name=name, num_partitions=count, replication_factor=1, assignments=[], configs=[]
        )
        for name, count in TOPICS.items()
    ]
    with WireClient(bootstrap) as client:
        client.ask(CreateTopicsRequest(topics=topics, timeout_ms=10_000), 5)
        asked = MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in TOPICS])
        while any(topic.error_code for topic in client.ask(asked, 8).topics):
            continue


@pytest.mark.parametrize("seed", SEEDS)
def test_the_brokers_agree(twins: Twins, seed: int) -> None:
    told = []
    for broker in twins:
        with closing(ConsumerTwin(broker.bootstrap, f"group-{seed}")) as twin:
            told.append("\n".join(twin.play(seed, STEPS)))
    assert told[0] == told[1]
