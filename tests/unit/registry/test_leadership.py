"""One member of the group leads, and the others know its address."""

import asyncio

from moldau.registry.leadership import Leadership, leader_url
from moldau.registry.topic import prepare_topic
from moldau.testing.broker import EmbeddedBroker
from unit.waiting import until


async def test_one_leads_and_when_it_is_gone_another_does(broker: EmbeddedBroker) -> None:
    client: dict[str, object] = {"bootstrap.servers": broker.bootstrap_servers}
    await prepare_topic(client, "led", 1)
    assert await leader_url(client, "leaders", "led") is None
    first, second = (
        Leadership(client, "led", "leaders", url) for url in ("http://a:1", "http://b:2")
    )
    noticed: list[bool] = []
    first.changed = lambda: noticed.append(first.is_chosen)
    async with asyncio.TaskGroup() as tasks:
        leading = tasks.create_task(first.run())
        await until(lambda: first.is_chosen)
        assert await leader_url(client, "leaders", "led") == "http://a:1"
        waiting = tasks.create_task(second.run())
        async with asyncio.timeout(30):
            while len(await _members(client)) < 2:
                await asyncio.sleep(0)
        assert leads(first), "who leads goes on"
        leading.cancel()
        await until(lambda: second.is_chosen)
        assert not leads(first)
        assert await leader_url(client, "leaders", "led") == "http://b:2"
        waiting.cancel()
    assert noticed[0] is True
    assert noticed[-1] is False


def leads(member: Leadership) -> bool:
    return member.is_chosen


async def _members(client: dict[str, object]) -> list[object]:
    from moldau.client.admin.admin import Admin

    async with Admin(client) as admin:
        return list((await admin.describe_groups("leaders"))["leaders"].members)
