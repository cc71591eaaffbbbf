"""Members are sent away and offsets forgotten, one by one."""

from moldau.client.admin.admin import Admin
from moldau.client.consumer.consumer import Consumer
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker
from unit.console.asking import Asking
from unit.waiting import until


async def test_a_member_is_sent_away(console: Asking, broker: EmbeddedBroker) -> None:
    await console.send("POST", "/topics", {"name": "left", "partitions": 1})
    async with Consumer[bytes, bytes](
        bootstrap_servers=broker.bootstrap_servers, group_id="leaving"
    ) as consumer:
        consumer.subscribe(["left"])
        await consumer.poll(0.1)
        await until(consumer.assignment)
        (member,) = (await console.get("/groups/leaving"))["members"]
        path = "/groups/leaving/members"
        assert (await console.refused("DELETE", path, {"member": "nobody"}))[0] == 404
        done = await console.send("DELETE", path, {"member": member["member"]})
        assert done == {"removed": member["member"]}
        async with Admin(bootstrap_servers=broker.bootstrap_servers) as admin:
            found = (await admin.describe_groups("leaving"))["leaving"]
        assert member["member"] not in [each.member_id for each in found.members]


async def test_offsets_of_a_topic_are_forgotten(console: Asking, broker: EmbeddedBroker) -> None:
    await console.send("POST", "/topics", {"name": "read", "partitions": 2})
    await console.send("POST", "/topics", {"name": "kept", "partitions": 1})
    places = [TopicPartition("read", 0), TopicPartition("read", 1), TopicPartition("kept", 0)]
    async with Admin(bootstrap_servers=broker.bootstrap_servers) as admin:
        (await admin.alter_group_offsets("partly", dict.fromkeys(places, 0))).check()
    path = "/groups/partly/offsets"
    assert (await console.refused("DELETE", path, {"topic": "read"}))[0] == 400, "not confirmed"
    done = await console.send("DELETE", path, {"topic": "read", "confirm": "read"})
    assert done == {"forgotten": 2}
    offsets = (await console.get("/groups/partly"))["offsets"]
    assert [each["topic"] for each in offsets] == ["kept"]
    again = {"topic": "read", "confirm": "read"}
    assert (await console.refused("DELETE", path, again))[0] == 404
