"""Of many groups some are read in each round, and those that are named in each."""

import pytest

from moldau.client.admin.admin import Admin
from moldau.console import group_lags
from moldau.console.group_lags import GroupLags
from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Fail

NAMES = [f"g{number}" for number in range(7)]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_lags, "ROUND_MAX", 3)
    monkeypatch.setattr(group_lags, "_AT_ONCE", 2)
    monkeypatch.setattr(group_lags, "_HISTORIES_MAX", 4)


async def test_groups_take_turns_and_stay_known(broker: EmbeddedBroker) -> None:
    async with Admin(bootstrap_servers=broker.bootstrap_servers) as admin:
        (await admin.create_topics(["turns"])).check()
        for name in NAMES:
            (await admin.alter_group_offsets(name, {TopicPartition("turns", 0): 0})).check()
        lags = GroupLags()
        known = [
            set(await lags.update(admin, ["g6"], has_all=True, at_ms=at_ms)) for at_ms in (1, 2, 3)
        ]
        assert known == [{*NAMES[:3], "g6"}, set(NAMES), set(NAMES)]
        assert [at for at, _ in lags.history["g6"]] == [1, 2, 3], "it is read in each round"
        assert [at for at, _ in lags.history["g0"]] == [1, 3], "the first follow the last"
        assert len(lags.history) == 4
        (await admin.delete_groups("g0")).check()
        assert "g0" not in await lags.update(admin, [], has_all=True, at_ms=4)
        assert set(await lags.update(admin, ["g5"], has_all=False, at_ms=5)) == {"g5"}
        assert [at for at, _ in lags.history["g5"]][-1] == 5, "who is looked at has a history"


async def test_groups_of_a_broker_that_does_not_list_them_are_not_gone(
    broker: EmbeddedBroker,
) -> None:
    async with Admin(bootstrap_servers=broker.bootstrap_servers) as admin:
        (await admin.create_topics(["silent"])).check()
        (await admin.alter_group_offsets("silent", {TopicPartition("silent", 0): 0})).check()
        lags = GroupLags()
        known = set(await lags.update(admin, ["silent"], has_all=True, at_ms=1))
        end = broker.control("ListGroups", lambda _: Fail(ErrorCode.UNKNOWN_SERVER_ERROR))
        assert set(await lags.update(admin, [], has_all=True, at_ms=2)) >= known
        end()
