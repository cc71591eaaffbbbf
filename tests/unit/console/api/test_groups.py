"""Groups are described with their lag, and reset by a plan."""

import pytest

from moldau.client.consumer.consumer import Consumer
from moldau.client.producer.producer import Producer
from moldau.console.api.groups import offsets_of
from moldau.model import TopicPartition
from moldau.protocol.apis import APIS
from moldau.protocol.messages.api_versions import (
    ApiVersion,
    ApiVersionsResponse,
    FinalizedFeatureKey,
)
from moldau.protocol.messages.list_groups import ListedGroup, ListGroupsResponse
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Call, Respond
from moldau.web.errors import WebError
from unit.console.asking import Asking


async def filled(console: Asking, broker: EmbeddedBroker, topic: str) -> None:
    await console.send("POST", "/topics", {"name": topic, "partitions": 1})
    async with Producer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for each in range(5):
            await producer.send_and_wait(topic, str(each).encode())


async def test_a_group_is_reset_as_the_plan_said(console: Asking, broker: EmbeddedBroker) -> None:
    await filled(console, broker, "planned")
    await console.send(
        "POST",
        "/groups/g%2F1/offsets",
        {"offsets": [{"topic": "planned", "partition": 0, "offset": 4}]},
    )
    found = await console.get("/groups/g%2F1")
    assert (found["group"], found["state"], found["lag"]) == ("g/1", "Empty", 1)
    plan = await console.send("POST", "/groups/g%2F1/plan", {"to": "shift", "value": -2})
    assert plan["is_possible"]
    assert plan["changes"] == [{"topic": "planned", "partition": 0, "old": 4, "new": 2}]
    assert (await console.get("/groups/g%2F1"))["lag"] == 1, "a plan changes nothing"
    offsets = [{"topic": "planned", "partition": 0, "offset": 2}]
    await console.send("POST", "/groups/g%2F1/offsets", {"offsets": offsets})
    assert (await console.get("/groups/g%2F1"))["offsets"][0]["lag"] == 3
    assert (await console.refused("DELETE", "/groups/g%2F1", {}))[0] == 400
    await console.send("DELETE", "/groups/g%2F1", {"confirm": "g/1"})
    assert (await console.refused("GET", "/groups/g%2F1"))[0] == 404


async def test_a_group_with_members_is_left_alone(console: Asking, broker: EmbeddedBroker) -> None:
    await filled(console, broker, "busy")
    async with Consumer(
        "busy",
        bootstrap_servers=broker.bootstrap_servers,
        group_id="<b>group</b>",
        auto_offset_reset="earliest",
        client_id="<i>client</i>",
    ) as consumer:
        assert await consumer.poll(20)
        await consumer.commit()
        found = await console.get("/groups/%3Cb%3Egroup%3C%2Fb%3E")
        assert found["members"][0]["client"] == "<i>client</i>"
        assert found["members"][0]["partitions"] == ["busy-0"]
        body = {"offsets": [{"topic": "busy", "partition": 0, "offset": 0}]}
        path = "/groups/%3Cb%3Egroup%3C%2Fb%3E"
        status, message = await console.refused("POST", f"{path}/offsets", body)
        assert status == 409
        assert "stop its 1 members first" in message
        plan = await console.send("POST", f"{path}/plan", {"to": "earliest"})
        assert not plan["is_possible"]
    listed = (await console.get("/groups"))["groups"]
    assert "<b>group</b>" in [each["group"] for each in listed]


async def test_a_group_without_offsets_needs_a_topic(
    console: Asking, broker: EmbeddedBroker
) -> None:
    await filled(console, broker, "fresh")
    assert (await console.refused("POST", "/groups/new/plan", {"to": "latest"}))[0] == 409
    plan = await console.send("POST", "/groups/new/plan", {"to": "latest", "topic": "fresh"})
    assert plan["changes"] == [{"topic": "fresh", "partition": 0, "old": None, "new": 5}]


async def test_a_share_group_is_listed_and_looked_at(
    console: Asking, broker: EmbeddedBroker
) -> None:
    assert not (await console.get("/groups"))["has_share"], "ours has none"
    shared = ListedGroup(
        group_id="sharing", protocol_type="share", group_state="Stable", group_type="share"
    )
    answer = ListGroupsResponse(error_code=0, groups=[shared])
    asked: list[list[str]] = []

    def listing(call: Call) -> Respond:
        asked.append(call.request.types_filter)
        return Respond(answer)

    end = broker.control("ListGroups", listing)
    found = await console.get("/groups")
    (row,) = found["groups"]
    assert (found["has_share"], row["type"], row["state"]) == (True, "share", "Stable")
    group = await console.get("/groups/sharing")
    assert (group["type"], group["state"], group["members"]) == ("share", "Stable", [])
    assert (await console.refused("GET", "/groups/other"))[0] == 404
    assert asked == [[], ["share"], ["share"]]
    end()


async def test_a_cluster_may_have_share_groups_before_there_is_one(
    console: Asking, broker: EmbeddedBroker
) -> None:
    await console.get("/groups")
    level = FinalizedFeatureKey(name="share.version", max_version_level=1, min_version_level=1)
    answer = ApiVersionsResponse(error_code=0, api_keys=[], finalized_features=[level])
    end = broker.control("ApiVersions", lambda _: Respond(answer))
    assert (await console.get("/groups"))["has_share"]
    end()


async def test_brokers_that_list_no_types_have_no_share_groups(
    console: Asking, broker: EmbeddedBroker
) -> None:
    versions = {**{each.key: each.versions for each in APIS}, 16: range(5)}
    spoken = [
        ApiVersion(api_key=key, min_version=each[0], max_version=each[-1])
        for key, each in versions.items()
    ]
    answer = ApiVersionsResponse(error_code=0, api_keys=spoken)
    end = broker.control("ApiVersions", lambda _: Respond(answer))
    assert not (await console.get("/groups"))["has_share"]
    assert (await console.refused("GET", "/groups/none"))[0] == 404
    end()


def test_offsets_are_whole_numbers_of_partitions() -> None:
    good = {"offsets": [{"topic": "a", "partition": 0, "offset": 1}]}
    assert offsets_of(good) == {TopicPartition("a", 0): 1}
    for wrong in ([], [{"topic": "a"}], [1], [{"topic": "a", "partition": 0, "offset": -1}]):
        with pytest.raises(WebError):
            offsets_of({"offsets": wrong})
