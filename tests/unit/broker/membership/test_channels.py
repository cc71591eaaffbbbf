"""Channels to other brokers; a cluster that logs in to itself."""

import pytest

from moldau.broker.broker import Broker
from moldau.broker.login.users import SecretChange
from moldau.broker.membership.channels import Channels
from moldau.config.broker.startup import read_startup
from moldau.net.channel import ChannelLimits
from moldau.runtime.clock import SystemClock
from moldau.security.scram import ScramSecret
from moldau.testing.cluster import running_cluster
from unit.broker.login.secured import ADMIN, ADMIN_PASSWORD, MECHANISMS, settings


def test_a_channel_goes_to_the_listener_of_brokers() -> None:
    channels = Channels(read_startup({}), SystemClock())
    assert channels.listener == "PLAINTEXT"
    channel = channels.open("host", 9, "me", ChannelLimits())
    assert str(channel) == "host:9"
    assert Channels(read_startup({}), SystemClock(), "OTHER").listener == "OTHER"


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_three_brokers_log_in_to_each_other_and_stay_so(mechanism: str) -> None:
    async def make_user(broker: Broker) -> None:
        for each in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
            secret = ScramSecret.of_password(each, ADMIN_PASSWORD, salt=b"salt", iterations=4096)
            await broker.users.alter(ADMIN, [SecretChange(each, secret)])

    own = settings(mechanism, connections_max_reauth_ms="1500")
    with running_cluster(3, own, prepare=make_user) as cluster:
        cluster.create_topic("t", partitions=3)
        assert sorted(cluster.in_sync("t")) == [0, 1, 2]
        cluster.wait_for(
            lambda all_of_them: all(
                counted(one.broker, "successful_reauthentication_total") for one in all_of_them
            )
        )
        assert sorted(cluster.in_sync("t")) == [0, 1, 2]
        for one in cluster:
            assert counted(one.broker, "failed_authentication") == 0


def counted(broker: Broker, name: str) -> int:
    lines = [line for line in broker.metrics.lines() if name in line and not line.startswith("#")]
    return sum(int(line.rpartition(" ")[2]) for line in lines)
