"""Numbers are taken while somebody looks, and only then."""

import asyncio

import pytest

from moldau.client.admin.admin import Admin
from moldau.client.producer.producer import Producer
from moldau.console import cluster as cluster_module
from moldau.console.cluster import ConsoleCluster
from moldau.console.sampling import (
    INTERVAL_S,
    NumbersSample,
    Sampler,
    TopicNumbers,
    rest_s,
)
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker


async def test_a_topic_has_records_a_rate_and_a_size(broker: EmbeddedBroker) -> None:
    cluster = ConsoleCluster("local", {"bootstrap.servers": broker.bootstrap_servers})
    sampler = Sampler(cluster)
    async with Producer(bootstrap_servers=broker.bootstrap_servers) as producer:
        await producer.send_and_wait("sampled", b"one")
        with sampler.watching(["readers"]):
            await sampler.take()
            first = sampler.sample.topics["sampled"]
            assert (first.records, first.rate) == (1, None)
            assert first.size_bytes
            await producer.send_and_wait("sampled", b"two")
            await sampler.take()
    second = sampler.sample.topics["sampled"]
    assert second.records == 2
    assert second.rate is not None
    assert second.rate > 0
    assert sampler.sample.rate >= second.rate
    assert len(sampler.history) == 2
    assert sampler.sample.groups["readers"].total == 0
    await cluster.close()


async def test_bytes_are_counted_less_often_than_records(broker: EmbeddedBroker) -> None:
    cluster = ConsoleCluster("local", {"bootstrap.servers": broker.bootstrap_servers})
    sampler = Sampler(cluster)
    async with Producer(bootstrap_servers=broker.bootstrap_servers) as producer:
        with sampler.watching():
            for at in range(6):
                assert not sampler.sizes.history, f"before sample {at}"
                await producer.send_and_wait("weighed", bytes(1000))
                await sampler.take()
    assert sampler.sample.bytes_in == sampler.sizes.history[-1]
    assert sampler.sample.bytes_in[1] > 0
    await cluster.close()


async def test_all_groups_are_read_for_who_wants_them(broker: EmbeddedBroker) -> None:
    async with (
        Admin(bootstrap_servers=broker.bootstrap_servers) as admin,
        Producer(bootstrap_servers=broker.bootstrap_servers) as producer,
    ):
        await producer.send_and_wait("grouped", b"one")
        await admin.alter_group_offsets("behind", {TopicPartition("grouped", 0): 0})
    cluster = ConsoleCluster("local", {"bootstrap.servers": broker.bootstrap_servers})
    sampler = Sampler(cluster)
    with sampler.watching(None):
        await sampler.take()
    assert sampler.sample.groups["behind"].total == 1
    assert [lag for _, lag in sampler.lags.history["behind"]] == [1]
    await cluster.close()


async def test_a_cluster_that_is_down_makes_a_sample_that_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster_module, "CONNECT_S", 0.1)
    sampler = Sampler(ConsoleCluster("down", {"bootstrap.servers": "127.0.0.1:1"}))
    with sampler.watching():
        await sampler.take()
    assert sampler.sample.error is not None
    assert "127.0.0.1:1" in sampler.sample.error
    assert not sampler.history


async def test_nobody_is_asked_while_nobody_looks(broker: EmbeddedBroker) -> None:
    cluster = ConsoleCluster("local", {"bootstrap.servers": broker.bootstrap_servers})
    sampler = Sampler(cluster)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(sampler.run())
        with sampler.watching():
            assert sampler.watchers == 1
            sample = await sampler.next_sample(0)
            assert sample is not None
            assert sample.error is None
        assert sampler.watchers == 0
        await sampler.close()
        assert await sampler.next_sample(0) is None
        running.cancel()
    await cluster.close()


async def test_a_broker_that_says_nothing_is_no_reason_to_ask_less_often() -> None:
    sound, silent = TopicNumbers(1, 1), TopicNumbers(0, 0, error="REQUEST_TIMED_OUT")
    assert not NumbersSample(1, {"a": sound}).is_partial
    assert NumbersSample(1, {"a": sound, "b": silent}).is_partial


def test_ends_that_were_unknown_for_a_while_are_no_burst() -> None:
    sampler = Sampler(ConsoleCluster("any", {}))
    for second, end, error in ((1.0, 100, None), (2.0, 40, "REQUEST_TIMED_OUT"), (3.0, 101, None)):
        now = TopicNumbers(end, end, error=error)
        sampler.add_rates({"a": now}, second)
    assert now.rate is None


def test_a_slow_cluster_is_asked_less_often_and_one_that_is_away_is_not_given_up() -> None:
    assert rest_s(0.1, is_failed=False) == INTERVAL_S - 0.1
    assert rest_s(1.0, is_failed=False) == 9.0
    assert rest_s(5.0, is_failed=True) == INTERVAL_S
