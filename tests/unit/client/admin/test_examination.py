"""What a client sees of a cluster is judged."""

from moldau.client.admin.admin import Admin
from moldau.client.admin.description import BrokerDescription
from moldau.client.admin.examination import (
    advertised,
    clock,
    controller,
    examine,
    is_reachable,
    partitions,
)
from moldau.client.admin.topics import PartitionDescription, TopicDescription
from moldau.testing.broker import EmbeddedBroker


async def test_any_admin_client_examines(kafka: EmbeddedBroker) -> None:
    servers = kafka.bootstrap_servers
    async with Admin(bootstrap_servers=servers) as admin:
        findings = await examine(admin, servers)
    assert all(each.is_well for each in findings)
    assert findings[0].text.startswith(f"{servers} answers")


def test_brokers_whose_clock_is_ahead_are_found() -> None:
    assert "cannot be compared" in clock(None, 0).text
    assert clock(10_000, 10_900).text.startswith("a broker stamped a record 0.9 s ago")
    assert clock(10_000, 9_100).is_well
    assert "at least 1.1 s ahead" in clock(10_000, 8_900).text
    assert not clock(10_000, 8_900).is_well


async def test_an_address_where_nobody_listens() -> None:
    assert not await is_reachable("127.0.0.1", 1)


def test_addresses_that_clients_cannot_use_are_found() -> None:
    here = BrokerDescription(1, "localhost", 9092, None)
    assert "cannot be reached" in advertised(here, ["localhost"], is_reached=False).text
    assert advertised(here, ["localhost"], is_reached=True).is_well
    assert "another machine" in advertised(here, ["kafka.example"], is_reached=True).text
    assert not controller(-1, [here]).is_well


def test_partitions_that_ail_are_named() -> None:
    ailing = [
        PartitionDescription(0, -1, 0, [1, 2], [], []),
        PartitionDescription(1, 1, 0, [1, 2], [1], []),
        PartitionDescription(2, 1, 0, [1, 2], [1, 2], []),
    ]
    _, offline, behind = partitions([TopicDescription("t", None, False, ailing, None)])
    assert offline.text == "1 partitions have no leader: t-0"
    assert behind.text == "2 partitions are under-replicated: t-0, t-1"
    many = [PartitionDescription(each, -1, 0, [1], [1], []) for each in range(9)]
    assert partitions([TopicDescription("t", None, False, many, None)])[1].text.endswith(", ...")
