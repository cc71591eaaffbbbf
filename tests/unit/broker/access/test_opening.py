"""The authorizer that the settings ask for."""

import pytest

from moldau.errors import InvalidConfig
from moldau.security.principals import ANONYMOUS, Principal
from unit.broker.world import broker_world

NAME = "authorizer.class.name"
AUTHORIZER = {NAME: "kafka.security.authorizer.AclAuthorizer"}


async def test_without_a_setting_everyone_is_allowed() -> None:
    async with broker_world() as world:
        assert not world.broker.authorizer.is_enforcing
        assert world.broker.access_rules is None


@pytest.mark.parametrize(
    "name",
    [
        "kafka.security.authorizer.AclAuthorizer",
        "kafka.security.auth.SimpleAclAuthorizer",
        "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    ],
)
async def test_kafkas_names_stand_for_ours(name: str) -> None:
    async with broker_world({NAME: name}) as world:
        assert world.broker.authorizer.is_enforcing
        assert await world.tree.exists("/kafka-acl/DelegationToken") is not None
        assert await world.tree.exists("/kafka-acl-extended/prefixed/User") is not None


async def test_super_users_are_named_with_semicolons_in_between() -> None:
    settings = {**AUTHORIZER, "super.users": " User:CN=a,O=b ; User:root;"}
    async with broker_world(settings) as world:
        assert world.broker.access_rules is not None
        rules = world.broker.access_rules.rules
        assert rules.is_super(Principal("User", "CN=a,O=b"))
        assert rules.is_super(Principal("User", "root"))
        assert not rules.is_super(Principal("User", ""))


@pytest.mark.parametrize("names", ["root", "User:*", "User:a;:b"])
async def test_super_users_that_cannot_be_meant_are_refused(names: str) -> None:
    with pytest.raises(InvalidConfig, match=r"super\.users"):
        async with broker_world({**AUTHORIZER, "super.users": names}):
            pass


async def test_a_setting_that_opens_everything_is_warned_of(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with broker_world({**AUTHORIZER, "super.users": str(ANONYMOUS)}):
        assert "Clients that do not log in have all permissions" in caplog.text


async def test_rules_in_an_open_zookeeper_are_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    zookeeper = {
        "zookeeper.connect": "localhost:2181",
        "listeners": "PLAINTEXT://localhost:9092",
        "offsets.topic.replication.factor": "1",
    }
    async with broker_world({**AUTHORIZER, **zookeeper}):
        assert "zookeeper.set.acl is false" in caplog.text
    caplog.clear()
    async with broker_world(AUTHORIZER):
        assert "zookeeper" not in caplog.text.lower()
