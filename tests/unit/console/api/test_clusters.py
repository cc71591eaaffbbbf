"""A cluster at a glance: what is wrong comes first."""

import json

import pytest

from moldau.client.admin.topics import PartitionDescription, TopicDescription
from moldau.console import cluster as cluster_module
from moldau.console.api.clusters import troubles
from unit.console.asking import Asking, asking


async def test_the_overview_counts_what_there_is(console: Asking) -> None:
    await console.send("POST", "/topics", {"name": "counted", "partitions": 3})
    found = await console.get("")
    assert found["topics"] >= 1
    assert found["partitions"] >= 3
    assert found["troubles"] == []
    assert found["brokers"][0]["id"] == found["controller"] == 0


async def test_brokers_have_their_directories(console: Asking) -> None:
    (broker,) = (await console.get("/brokers"))["brokers"]
    assert broker["is_controller"]
    assert broker["replicas"] == broker["in_sync"]
    assert broker["directories"][0]["bytes"] >= 0
    assert broker["directories"][0]["lag"] == 0


async def test_settings_of_a_broker_have_documentation(console: Asking) -> None:
    configs = (await console.get("/brokers/0/configs"))["configs"]
    (found,) = (each for each in configs if each["name"] == "num.partitions")
    assert found["documentation"]
    assert (await console.refused("GET", "/brokers/x/configs"))[0] == 400


async def test_the_doctor_is_asked(console: Asking) -> None:
    findings = (await console.get("/findings"))["findings"]
    assert all(each["is_well"] for each in findings)
    assert "answers" in findings[0]["text"]


async def test_a_cluster_that_is_down_is_a_503(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "CONNECT_S", 0.1)
    async with asking({"local": {"bootstrap.servers": "127.0.0.1:1"}}) as console:
        status, message = await console.refused("GET", "")
        me = json.loads((await console.ask("GET", "/api/console")).body)
    assert status == 503
    assert "127.0.0.1:1" in message
    assert me["clusters"] == ["local"], "the page itself can be shown"
    assert list(me["servers"]) == ["local"]


def test_partitions_that_ail_are_counted_and_some_are_named() -> None:
    ailing = [PartitionDescription(each, -1, 0, [1], [], []) for each in range(30)]
    ailing += [PartitionDescription(30, 1, 0, [1, 2], [1], [])]
    offline, behind = troubles([TopicDescription("t", None, False, ailing, None)])
    assert (offline["kind"], offline["count"]) == ("offline", 30)
    assert len(offline["partitions"]) == 20  # type: ignore[arg-type]
    assert behind == {"kind": "under-replicated", "count": 1, "partitions": ["t-30"]}
