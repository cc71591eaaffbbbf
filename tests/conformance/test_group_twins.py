"""Our broker and Apache's say the same about a group, whatever its members do."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import repeat
from pathlib import Path

import pytest

from conformance.apache.broker import ApacheBroker, apache_broker
from conformance.apache.marks import needs_apache
from conformance.group_twins import TOPIC, GroupTwin
from conformance.our_broker import OurBroker, our_broker
from moldau.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from moldau.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from moldau.testing.wire import WireClient

pytestmark = needs_apache("kafka-3.9")

STEPS = 60
SEEDS = range(16)

Twins = tuple[OurBroker, ApacheBroker]


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twins]:
    directory: Path = tmp_path_factory.mktemp("twins")
    with our_broker(directory / "ours") as ours, apache_broker(directory / "theirs") as theirs:
        theirs.start()
        for broker in (ours, theirs):
            topic = CreatableTopic(
                name=TOPIC, num_partitions=2, replication_factor=1, assignments=[], configs=[]
            )
            with WireClient(broker.bootstrap) as client:
                client.ask(CreateTopicsRequest(topics=[topic], timeout_ms=10_000), 5)
                asked = MetadataRequest(topics=[MetadataRequestTopic(name=TOPIC)])
                while client.ask(asked, 8).topics[0].error_code:
                    continue
        yield ours, theirs


def test_the_brokers_agree(twins: Twins) -> None:
    def play(case: tuple[str, int], name: str = "group") -> str:
        bootstrap, seed = case
        with closing(GroupTwin(bootstrap, f"{name}-{seed}", seed)) as twin:
            return "\n".join(twin.play(STEPS))

    for broker in twins:  # a young virtual machine answers late, as if it had parked the request
        play((broker.bootstrap, -1))
    cases = [(broker.bootstrap, seed) for seed in SEEDS for broker in twins]
    with ThreadPoolExecutor(len(cases)) as pool:
        told = list(pool.map(play, cases))
    for seed, ours, theirs in zip(SEEDS, told[::2], told[1::2], strict=True):
        if ours != theirs:
            # On a busy machine a late answer looks parked too: once more, with little beside it.
            cases = [(broker.bootstrap, seed) for broker in twins]
            with ThreadPoolExecutor(len(cases)) as pool:
                again = list(pool.map(play, cases, repeat("again")))
            assert again[0] == again[1], f"seed {seed}"
