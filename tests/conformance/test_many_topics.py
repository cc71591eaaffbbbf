"""Ten thousand topics: created, listed, found again after a restart, deleted."""

from collections.abc import Iterator

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from moldau.testing.broker import EmbeddedBroker, running_broker

COUNT = 10_000
BATCH = 1000
TIMEOUT_S = 60


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with running_broker() as broker:
        yield broker


def names_of(admin: AdminClient) -> set[str]:
    return set(admin.list_topics(timeout=TIMEOUT_S).topics)


def test_ten_thousand_topics_are_created_listed_and_deleted(broker: EmbeddedBroker) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    wanted = [f"topic_{number:05}" for number in range(COUNT)]
    for start in range(0, COUNT, BATCH):
        topics = [NewTopic(name, 1, 1) for name in wanted[start : start + BATCH]]
        created = admin.create_topics(topics, request_timeout=TIMEOUT_S)
        for outcome in created.values():
            outcome.result(TIMEOUT_S)
    assert names_of(admin) == set(wanted)
    broker.restart()
    broker.wait_for(lambda inside: len(inside.replicas) == COUNT, timeout_s=TIMEOUT_S)
    assert names_of(admin) == set(wanted)
    for outcome in admin.delete_topics(wanted[:BATCH], request_timeout=TIMEOUT_S).values():
        outcome.result(TIMEOUT_S)
    assert names_of(admin) == set(wanted[BATCH:])
