"""What a broker refuses to start with, because it could not keep its promise."""

import pytest

from moldau.broker.settings.unsupported import refuse_unsupported
from moldau.config.broker.startup import read_startup
from moldau.config.values import Password
from moldau.errors import InvalidConfig


def test_a_plain_broker_may_start() -> None:
    refuse_unsupported(read_startup({"listeners": "PLAINTEXT://:9092"}))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("client.quota.callback.class", "com.example.Quotas"),
        ("group.consumer.assignors", "uniform,com.example.OtherAssignor"),
        ("zookeeper.ssl.crl.enable", "true"),
        ("zookeeper.ssl.ocsp.enable", "true"),
        ("zookeeper.clientCnxnSocket", "org.apache.zookeeper.ClientCnxnSocketNetty"),
    ],
)
def test_what_cannot_be_honoured_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(InvalidConfig, match=name):
        refuse_unsupported(read_startup({name: value}))


def test_cve_2024_31141_settings_are_read_from_nowhere_else() -> None:
    """Apache's broker would look for a password in files and variables that a setting names."""
    providers = {
        "config.providers": "file",
        "config.providers.file.class": "org.apache.kafka.common.config.provider.FileConfigProvider",
    }
    with pytest.raises(InvalidConfig, match=r"config\.providers"):
        refuse_unsupported(read_startup(providers))
    kept = read_startup({"delegation.token.secret.key": "${env:HOME}"}).config.security
    assert kept.delegation_token_secret_key == Password("${env:HOME}")


def test_a_cluster_may_not_speak_a_protocol_that_is_too_old() -> None:
    texts = {"zookeeper.connect": "localhost:2181", "listeners": "PLAINTEXT://localhost:9092"}
    refuse_unsupported(read_startup({**texts, "inter.broker.protocol.version": "2.4"}))
    with pytest.raises(InvalidConfig, match=r"2\.3-IV1 is older than 2\.4-IV0"):
        refuse_unsupported(read_startup({**texts, "inter.broker.protocol.version": "2.3-IV1"}))
