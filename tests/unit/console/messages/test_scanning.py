"""A topic is looked through within a budget, and gone on with where that ended."""

from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import replace

import pytest

from moldau.client.admin.admin import Admin
from moldau.client.admin.topics import NewTopic
from moldau.client.producer.producer import Producer
from moldau.console.filters.language import parse
from moldau.console.messages import scanning
from moldau.console.messages.query import MessageQuery
from moldau.console.messages.scanning import Budget, Scan, Scanner, readers
from moldau.testing.broker import EmbeddedBroker

COUNT = 40


@pytest.fixture
async def settings(broker: EmbeddedBroker) -> Mapping[str, object]:
    """Forty records in two partitions, a second apart."""
    servers = broker.bootstrap_servers
    async with Admin(bootstrap_servers=servers) as admin:
        if "scanned" not in await admin.list_topics():
            configs = {"retention.ms": "-1"}
            (await admin.create_topics([NewTopic("scanned", 2, configs=configs)])).check()
            async with Producer(bootstrap_servers=servers) as producer:
                for each in range(COUNT):
                    value, key = f"value-{each}".encode(), f"key-{each}".encode()
                    await producer.send_and_wait(
                        "scanned", value, key=key, partition=each % 2, timestamp_ms=1000 * each
                    )
    return {"bootstrap.servers": servers}


async def look(
    settings: Mapping[str, object], query: MessageQuery, budget: Budget | None = None
) -> tuple[list[int], Scan]:
    async with readers(settings, is_uncommitted=query.is_uncommitted) as found:
        scanner = Scanner(found, "scanned", query, budget or Budget(seconds=60))
        numbers: list[int] = []
        async with aclosing(scanner.run()) as tables:
            async for table in tables:
                values = table["value"].to_pylist()
                numbers += [int(each.decode().partition("-")[2]) for each in values]
    return numbers, scanner.scan


@pytest.mark.parametrize("start", ["newest", "oldest"])
async def test_it_goes_on_until_each_record_was_found_once(
    settings: Mapping[str, object], start: str
) -> None:
    query, numbers = MessageQuery(start, limit=7), list[int]()
    while True:
        found, scan = await look(settings, query)
        numbers += found
        if not scan.cursor:
            break
        assert (scan.stopped, len(found)) == ("limit", 7)
        query = replace(query, cursor=scan.cursor)
    assert sorted(numbers) == list(range(COUNT))
    if start == "newest":
        assert numbers == sorted(numbers, reverse=True)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (MessageQuery("offset", offset=18), [36, 37, 38, 39]),
        (MessageQuery("time", from_ms=36_500), [37, 38, 39]),
        (MessageQuery("oldest", from_ms=3_000, to_ms=5_000), [3, 4]),
        (MessageQuery("newest", to_ms=2_000), [0, 1]),
        (MessageQuery("newest", from_ms=38_000), [38, 39]),
        (MessageQuery("newest", from_ms=99_000), []),
        (MessageQuery("oldest", partitions=(1,), filter=parse("offset < 2")), [1, 3]),
        (MessageQuery("newest", filter=parse('value = "value-3"')), [3]),
        (MessageQuery("newest", filter=parse("nowhere")), []),
    ],
)
async def test_a_query_is_answered(
    settings: Mapping[str, object], query: MessageQuery, expected: list[int]
) -> None:
    found, scan = await look(settings, query)
    assert sorted(found) == expected
    assert scan.stopped == "end"
    assert scan.cursor == {}


async def test_a_budget_ends_it_and_it_goes_on(settings: Mapping[str, object]) -> None:
    query = MessageQuery("oldest", filter=parse('"value-39"'))
    found, scan = await look(settings, query, Budget(records=1))
    while scan.cursor:
        assert scan.stopped == "budget"
        more, scan = await look(settings, replace(query, cursor=scan.cursor), Budget(records=1))
        found += more
    assert found == [39]


async def test_a_window_with_too_many_bytes_is_made_smaller(
    settings: Mapping[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scanning, "_HELD_BYTES_MAX", 1)
    found, scan = await look(settings, MessageQuery(limit=3))
    assert found == [39, 38, 37]
    assert scan.stopped == "limit"


async def test_batches_of_other_times_are_not_opened(settings: Mapping[str, object]) -> None:
    found, scan = await look(settings, MessageQuery("oldest", to_ms=2_000))
    assert sorted(found) == [0, 1]
    assert (scan.scanned, scan.progress()["passed"]) == (2, COUNT - 2), "each is a batch"


def test_a_budget_is_time_records_and_bytes() -> None:
    assert Scan().is_over(Budget(seconds=0))
    assert Scan(scanned=5).is_over(Budget(records=5))
    assert Scan(bytes=5).is_over(Budget(bytes=5))
    assert not Scan(scanned=4, bytes=4).is_over(Budget(60, 5, 5))
    assert Scan(hits=2).progress()["hits"] == 2
