"""The console of a large cluster, and of large records: what it shows at once, and its memory.

Bounds of time are wide, since other tests run beside: `bin/bench console` measures.
"""

import asyncio
import concurrent.futures
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from conformance.console_process import ConsoleProcess, console_process, until
from moldau.client.admin.admin import Admin
from moldau.client.admin.topics import NewTopic
from moldau.client.producer.producer import Producer
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker, running_broker

TOPICS, GROUPS, TABS = 10_000, 15_000, 200
IDLE_MAX_MB, LARGE_MAX_MB, READING_MAX_MB = 80, 200, 320
SOON_S = 10.0
VALUE_BYTES = 20_000_000
SETTINGS = {
    "group.initial.rebalance.delay.ms": "0",
    "message.max.bytes": str(VALUE_BYTES + 100_000),
    "auto.create.topics.enable": "false",
}


def topic_name(number: int) -> str:
    return f"topic-{number:05}"


def group_name(number: int) -> str:
    return f"group-{number:05}"


async def fill(servers: str) -> None:
    """Topics without records, and groups that are behind in one that has some."""
    async with Admin(bootstrap_servers=servers) as admin:
        for start in range(0, TOPICS, 1000):
            topics = [NewTopic(topic_name(start + each), 1) for each in range(1000)]
            (await admin.create_topics(topics)).check()
        (await admin.create_topics([NewTopic("read", 1), NewTopic("large", 1)])).check()

        async def commit(number: int) -> None:
            offsets = {TopicPartition("read", 0): number % 10}
            (await admin.alter_group_offsets(group_name(number), offsets)).check()

        for start in range(0, GROUPS, 500):
            await asyncio.gather(*(commit(start + each) for each in range(500)))
    async with Producer[bytes, bytes](
        bootstrap_servers=servers, max_request_size=VALUE_BYTES + 100_000
    ) as producer:
        for number in range(10):
            await producer.send_and_wait("read", b"%d" % number)
        for _ in range(8):
            await producer.send_and_wait("large", b"x" * VALUE_BYTES)


@pytest.fixture(scope="module")
def kafka() -> Iterator[EmbeddedBroker]:
    with running_broker(SETTINGS) as running:
        asyncio.run(fill(running.bootstrap_servers))
        yield running


@pytest.fixture(scope="module")
def console(kafka: EmbeddedBroker) -> Iterator[ConsoleProcess]:
    with console_process(kafka.bootstrap_servers) as running:
        assert running.memory_mb <= IDLE_MAX_MB
        yield running


def test_ten_thousand_topics_and_fifteen_thousand_groups_are_listed_at_once(
    console: ConsoleProcess,
) -> None:
    topics, groups = console.get("/topics"), console.get("/groups")
    assert len(topics.said["topics"]) >= TOPICS
    assert len(groups.said["groups"]) == GROUPS
    assert groups.said["groups"][0]["group"] == group_name(0)
    overview, brokers = console.get(""), console.get("/brokers")
    assert overview.said["topics"] >= TOPICS
    assert brokers.said["brokers"][0]["leads"] >= TOPICS
    assert max(each.seconds for each in (topics, groups, overview, brokers)) < SOON_S
    assert console.memory_mb <= LARGE_MAX_MB


def test_numbers_of_all_topics_come_at_once_and_lags_in_turns(console: ConsoleProcess) -> None:
    with console.stream("/events", topics=1, groups=1) as stream:
        first = stream.until("numbers", lambda said: said.get("topics"))
        assert len(first["topics"]) >= TOPICS
        assert first["topics"]["read"][0] == 10
        assert 1000 <= len(first["groups"]) < GROUPS
        assert first["groups"][group_name(3)]["lag"] == 7
    assert console.memory_mb <= LARGE_MAX_MB


def test_groups_of_a_topic_are_found_among_all(console: ConsoleProcess) -> None:
    found = console.get("/topics/read/consumers")
    assert len(found.said["groups"]) == GROUPS
    assert found.seconds < SOON_S
    described = console.get(f"/groups/{group_name(9)}")
    assert described.said["lag"] == 1
    assert described.seconds < SOON_S


def test_doctor_and_why_answer_on_a_large_cluster(console: ConsoleProcess) -> None:
    assert console.get("/findings").status == 200
    assert console.get("/why/partitions").status == 200
    assert console.memory_mb <= LARGE_MAX_MB


def test_two_hundred_tabs_have_their_numbers_and_nobody_waits_for_them(
    console: ConsoleProcess,
) -> None:
    with ExitStack() as tabs, concurrent.futures.ThreadPoolExecutor(TABS) as threads:
        streams = [tabs.enter_context(console.stream("/events", topics=1)) for _ in range(TABS)]
        told = list(
            threads.map(lambda each: each.until("numbers", lambda said: "topics" in said), streams)
        )
        assert all(len(each["topics"]) >= TOPICS for each in told)
        assert console.get("/topics/read").seconds < SOON_S
        assert console.memory_mb <= LARGE_MAX_MB + TABS * 0.5
    until(lambda: _is_idle(console), "nothing is done for tabs that are gone")


def _is_idle(console: ConsoleProcess) -> bool:
    before_s, at_s = console.cpu_s, time.monotonic()
    while time.monotonic() - at_s < 0.5:
        time.sleep(0.05)
    return console.cpu_s - before_s <= 0.02


def test_of_records_of_twenty_megabytes_the_beginning_is_sent(kafka: EmbeddedBroker) -> None:
    with console_process(kafka.bootstrap_servers) as console:
        look_at_large_records(console)
        assert console.most_memory_mb <= READING_MAX_MB


def look_at_large_records(console: ConsoleProcess) -> None:
    for start in ("newest", "oldest"):
        found = console.get("/topics/large/messages", start=start)
        rows = [each["row"] for each in found.lines if "row" in each]
        assert [each["value"]["size"] for each in rows] == [VALUE_BYTES] * 8
        assert len(found.body) < 100_000
    whole = console.get("/topics/large/messages/0/7")
    assert whole.said["value"]["is_cut"]
    assert len(whole.body) < 2_000_000
    file = console.get("/topics/large/messages/0/7", download="value")
    assert file.body == b"x" * VALUE_BYTES
