"""What is only read at start is refused while the broker runs, and counts at the next start."""

from pathlib import Path

import pytest

from moldau import Admin
from moldau.broker.main import Ports, RunningBroker, running
from moldau.broker.settings.start_only import StartOnly, with_dynamic
from moldau.client.admin.configs import ConfigResource
from moldau.config.broker.startup import read_startup
from moldau.config.effective import BrokerLayers
from moldau.coordination.layout.configs import ConfigEntity
from moldau.errors import InvalidRequest, KafkaError, SaslAuthenticationFailed
from unit.broker.login.secured import JAAS, PLAIN

PREFIX = "listener.name.sasl_plaintext."
USERS = f"{PREFIX}plain.{JAAS}"
STATIC = {"listeners": "PLAINTEXT://:1,SASL_PLAINTEXT://:2", USERS: "of the file"}
STARTED = BrokerLayers(STATIC, broker={"sasl.enabled.mechanisms": "PLAIN"})


def only() -> StartOnly:
    return StartOnly(["PLAINTEXT", "SASL_PLAINTEXT"], STARTED)


def changed(**texts: str) -> BrokerLayers:
    return BrokerLayers(STATIC, broker={**STARTED.broker, **texts})


@pytest.mark.parametrize(
    "name",
    [
        "listeners",
        "advertised.listeners",
        "listener.security.protocol.map",
        "principal.builder.class",
        "sasl.enabled.mechanisms",
        "sasl.mechanism.inter.broker.protocol",
        JAAS,
        USERS,
        f"{PREFIX}sasl.server.max.receive.size",
        f"{PREFIX}scram-sha-256.connections.max.reauth.ms",
        f"{PREFIX}ssl.principal.mapping.rules",
    ],
)
def test_what_is_read_once_is_not_changed(name: str) -> None:
    with pytest.raises(KafkaError, match=f"Only read at start: {name}") as caught:
        only().refuse_changes(STARTED, changed(**{name: "other"}))
    assert "other" not in str(caught.value)


@pytest.mark.parametrize(
    "name",
    [
        f"{PREFIX}ssl.keystore.location",
        f"{PREFIX}ssl.client.auth",
        f"{PREFIX}max.connections",
        "log.cleaner.threads",
        "sasl.kerberos.kinit.cmd",  # has no effect at all
        "listener.name.another.sasl.enabled.mechanisms",
        f"{PREFIX}sasl.of.a.plugin",
    ],
)
def test_others_are_as_before(name: str) -> None:
    only().refuse_changes(STARTED, changed(**{name: "other"}))


def test_what_is_there_does_not_stand_in_the_way_of_others_and_can_be_taken_back() -> None:
    later = changed(listeners="by another broker", **{USERS: "by another broker"})
    also = changed(
        listeners="by another broker",
        **{USERS: "by another broker", "log.cleaner.threads": "2"},
    )
    only().refuse_changes(later, also)
    only().refuse_changes(later, STARTED)
    with pytest.raises(KafkaError):
        only().refuse_changes(later, changed(listeners="a third"))
    with pytest.raises(KafkaError):
        only().refuse_changes(STARTED, BrokerLayers(STATIC))


def test_where_to_listen_is_what_the_file_says() -> None:
    started = BrokerLayers(STATIC, broker={"listeners": "PLAINTEXT://:9"})
    found = StartOnly(["PLAINTEXT", "SASL_PLAINTEXT"], started)
    found.refuse_changes(started, BrokerLayers(STATIC))
    startup = with_dynamic(read_startup({"listeners": "PLAINTEXT://:1"}), started)
    assert [one.port for one in startup.listeners.bound] == [1]
    assert startup.texts["listeners"] == "PLAINTEXT://:9"


# A whole broker


def module(user: str) -> str:
    return f'{PLAIN} required user_{user}="sesam";'


def settings(folder: Path) -> dict[str, str]:
    return {
        "listeners": "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0",
        "log.dirs": str(folder),
        "sasl.enabled.mechanisms": "PLAIN",
        USERS: module("anna"),
        "connection.failed.authentication.delay.ms": "1",
        "password.encoder.secret": "of the settings",
    }


def where(started: RunningBroker, listener: str) -> str:
    return f"127.0.0.1:{started.ports[listener]}"


async def may_log_in(started: RunningBroker, user: str) -> bool:
    own = {
        "bootstrap.servers": where(started, "SASL_PLAINTEXT"),
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": user,
        "sasl.password": "sesam",
    }
    try:
        async with Admin(own) as admin:
            await admin.list_topics()
    except SaslAuthenticationFailed:
        return False
    return True


async def test_users_change_with_a_restart_and_not_silently(tmp_path: Path) -> None:
    async with running(read_startup(settings(tmp_path)), Ports()) as started:
        async with Admin({"bootstrap.servers": where(started, "PLAINTEXT")}) as admin:
            own = ConfigResource.broker(0)
            told = await admin.incremental_alter_configs({own: {USERS: module("ben")}})
            with pytest.raises(InvalidRequest, match=f"Only read at start: {USERS}"):
                told.check()
        assert await may_log_in(started, "anna")
        assert not await may_log_in(started, "ben")
        # Another broker, or Apache's before it, has written it all the same.
        configs = started.broker.configs
        configs.verify_broker = None
        await configs.alter(ConfigEntity.broker(0), lambda _: {USERS: module("ben")})
    async with running(read_startup(settings(tmp_path)), Ports()) as started:
        assert await may_log_in(started, "ben")
        assert not await may_log_in(started, "anna")


SEVEN = {"max.connections": "7"}


async def test_limits_of_connections_hold_from_the_start(tmp_path: Path) -> None:
    for expected in (2**31 - 1, 7):
        async with running(read_startup(settings(tmp_path)), Ports()) as started:
            limits = started.broker.listeners[0].admission.limits
            assert limits.connections_max == expected
            await started.broker.configs.alter(ConfigEntity.broker(None), lambda _: SEVEN)
