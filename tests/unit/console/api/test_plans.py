"""A reset goes where it was told, within what there is."""

from collections.abc import AsyncIterator

import pytest

from moldau.client.admin.admin import Admin
from moldau.client.admin.group_offsets import CommittedOffset
from moldau.client.producer.producer import Producer
from moldau.console.api.plans import ResetPlan, read_plan, time_ms
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker
from moldau.web.errors import WebError

FIRST = TopicPartition("plans", 0)


@pytest.fixture
async def admin(broker: EmbeddedBroker) -> AsyncIterator[Admin]:
    async with Admin(bootstrap_servers=broker.bootstrap_servers) as admin:
        if "plans" not in await admin.list_topics():
            async with Producer(bootstrap_servers=broker.bootstrap_servers) as producer:
                for at_ms in (1000, 2000, 3000):
                    await producer.send_and_wait("plans", b"x", timestamp_ms=at_ms)
        yield admin


@pytest.mark.parametrize(
    ("plan", "offset"),
    [
        (ResetPlan("earliest"), 0),
        (ResetPlan("latest"), 3),
        (ResetPlan("offset", 1), 1),
        (ResetPlan("offset", 99), 3),
        (ResetPlan("shift", -1), 1),
        (ResetPlan("shift", -9), 0),
        (ResetPlan("time", 1500), 1),
        (ResetPlan("time", 9_000), 3),
        (ResetPlan("duration", 10), 3),
    ],
)
async def test_an_offset_is_found(admin: Admin, plan: ResetPlan, offset: int) -> None:
    assert await plan.offsets(admin, {FIRST: CommittedOffset(2)}) == {FIRST: offset}


def test_plans_are_read_from_bodies() -> None:
    assert read_plan({"to": "earliest", "value": "x"}) == ResetPlan("earliest")
    assert read_plan({"to": "shift", "value": "-5", "topic": "a"}) == ResetPlan("shift", -5, "a")
    at = {"to": "time", "value": "1970-01-01T01:00:01+01:00"}
    assert read_plan(at) == ResetPlan("time", 1000)
    for wrong in ({}, {"to": "there"}, {"to": "offset"}, {"to": "latest", "topic": 1}):
        with pytest.raises(WebError):
            read_plan(wrong)


def test_a_time_names_its_zone() -> None:
    assert time_ms("1970-01-01T00:00:00Z") == 0
    with pytest.raises(WebError, match="no time zone"):
        time_ms("2026-11-18T09:30:00")
    with pytest.raises(WebError, match="no time such as"):
        time_ms("tomorrow")
