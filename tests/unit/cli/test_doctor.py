"""Say what a client at an address will be told, and what is wrong with it."""

import json

from moldau.cli.doctor import advertised, controller, is_reachable, partitions
from moldau.client.admin.description import BrokerDescription
from moldau.client.admin.topics import PartitionDescription, TopicDescription
from unit.cli.command import run


def test_a_cluster_that_is_well(bootstrap: str) -> None:
    done = run("doctor", bootstrap)
    assert done.code == 0
    assert all(line.startswith("ok   ") for line in done.stdout.splitlines())
    assert "broker 0 is the controller" in done.stdout
    found = json.loads(run("doctor", bootstrap, "--format", "json").stdout)
    assert all(each["is_well"] for each in found)


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
