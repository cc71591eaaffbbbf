"""Groups whose members keep what they have while others come and go."""

import asyncio
import re

import pytest

from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker
from unit.client.group.members import QUICK_GROUPS, member_of, settle
from unit.client.reading import read, write
from unit.client.topics import create_topic


@pytest.fixture
def kafka_settings() -> dict[str, str]:
    return QUICK_GROUPS


@pytest.mark.parametrize("assignor", ["sticky", "cooperative-sticky"])
async def test_members_keep_what_they_have(kafka: EmbeddedBroker, assignor: str) -> None:
    quick = {"partition_assignment_strategy": assignor}
    async with member_of(kafka, **quick) as one, member_of(kafka, **quick) as other:
        one.subscribe(["t"])
        await settle(one, counts=[3])
        before = set(one.assignment())
        other.subscribe(["t"])
        await settle(one, other, counts=[1, 2])
        assert set(one.assignment()) <= before
        kept = set(one.assignment())
        async with member_of(kafka, **quick) as third:
            third.subscribe(["t"])
            await settle(one, other, third, counts=[1, 1, 1])
            assert set(one.assignment()) <= kept


async def test_only_what_moves_is_revoked(kafka: EmbeddedBroker) -> None:
    quick = {"partition_assignment_strategy": "cooperative-sticky"}
    heard: list[tuple[str, int]] = []
    async with member_of(kafka, **quick) as one, member_of(kafka, **quick) as other:
        one.subscribe(
            ["t"],
            on_assigned=lambda partitions: heard.append(("+", len(partitions))),
            on_revoked=lambda partitions: heard.append(("-", len(partitions))),
        )
        await settle(one, counts=[3])
        other.subscribe(["t"])
        await settle(one, other, counts=[1, 2])
        moved = 3 - len(one.assignment())
    assert heard[0] == ("+", 3)
    assert ("-", moved) in heard
    assert heard[-1] == ("-", 3 - moved)


async def test_reading_goes_on_while_others_join(kafka: EmbeddedBroker) -> None:
    await write(kafka, "t", range(20))
    quick = {"partition_assignment_strategy": "cooperative-sticky"}
    async with member_of(kafka, **quick) as one, member_of(kafka, **quick) as other:
        one.subscribe(["t"])
        assert await read(one, 5) == [0, 1, 2, 3, 4]
        other.subscribe(["t"])
        seen: set[int] = set(range(5))
        async with asyncio.timeout(20):
            while len(seen) < 20 or sorted((len(one.assignment()), len(other.assignment()))) != [
                1,
                2,
            ]:
                for member in (one, other):
                    seen.update(int(record.value or b"") for record in await member.poll(0.01))
    assert seen == set(range(20))


async def test_a_pattern_finds_topics_that_come_later(kafka: EmbeddedBroker) -> None:
    create_topic(kafka, "orders-1")
    create_topic(kafka, "other")
    async with member_of(kafka, metadata_max_age_ms=50) as member:
        member.subscribe(re.compile("^orders-"))
        await settle(member, counts=[1])
        create_topic(kafka, "orders-2", partitions=2)
        await settle(member, counts=[3])
        assert {each.topic for each in member.assignment()} == {"orders-1", "orders-2"}


async def test_a_pattern_that_matches_nothing_waits(kafka: EmbeddedBroker) -> None:
    async with member_of(kafka, metadata_max_age_ms=50) as member:
        member.subscribe(re.compile("^orders-"))
        assert await member.poll(0.1) == []
        create_topic(kafka, "orders-1")
        await settle(member, counts=[1])


async def test_a_member_says_who_it_is(kafka: EmbeddedBroker) -> None:
    async with member_of(kafka, group_instance_id="i") as member:
        assert member.group_metadata() == ("g", -1, "", None)
        member.subscribe(["t"])
        await settle(member, counts=[3])
        known = member.group_metadata()
        assert (known.group_id, known.instance_id) == ("g", "i")
        assert known.generation >= 1
        assert known.member_id


async def test_commits_can_happen_in_the_background(kafka: EmbeddedBroker) -> None:
    await write(kafka, "t", range(10))
    at = TopicPartition("t", 0)
    async with member_of(kafka, enable_auto_commit=False) as member:
        member.subscribe(["t"])
        await read(member, 4)
        member.commit_soon()
        while await member.committed([at]) != {at: 4}:
            await member.poll(0)
        member.commit_soon({at: 2})
    async with member_of(kafka) as member:
        assert await member.committed([at]) == {at: 2}
