"""Broker settings that must fit together."""

import pytest

from moldau.config.broker.broker import read_broker_config
from moldau.config.broker.checks import check_broker_config
from moldau.errors import InvalidConfig


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ({"process.roles": "broker"}, "value broker for configuration process.roles: must be un"),
        ({"controller.listener.names": "X"}, "it belongs to KRaft"),
        ({"zookeeper.metadata.migration.enable": "true"}, "must be false"),
        ({"remote.log.storage.system.enable": "true"}, "must be false"),
        ({"broker.id": "1001"}, r"between -1 and reserved.broker.max.id \(1000\)"),
        ({"broker.id": "-1", "broker.id.generation.enable": "false"}, "at least 0"),
        ({"broker.id": "1", "node.id": "2"}, r"broker.id \(1\) and node.id \(2\) must be the same"),
        ({"log.dirs": ""}, "at least one directory"),
        ({"log.roll.ms": "0"}, "log.roll.ms: must be at least 1"),
        ({"log.roll.jitter.ms": "-1"}, "log.roll.jitter.ms: must be at least 0"),
        ({"log.retention.hours": "0"}, "log.retention.ms: must be -1 for no limit"),
        ({"log.cleaner.threads": "0"}, "log.cleaner.threads: must be at least 1"),
        ({"log.cleaner.dedupe.buffer.size": "1"}, "more than 1048576 per cleaner thread"),
        ({"replica.fetch.wait.max.ms": "40000"}, r"at most replica.socket.timeout.ms \(30000\)"),
        (
            {"replica.fetch.wait.max.ms": "40000", "replica.socket.timeout.ms": "50000"},
            r"at most replica.lag.time.max.ms \(30000\)",
        ),
        ({"max.connections.per.ip.overrides": "h:x"}, "whole number"),
        ({"max.connections.per.ip": "0"}, "without max.connections.per.ip.overrides"),
        ({"connections.max.idle.ms": "50"}, r"less than connections.max.idle.ms \(50\)"),
        ({"queued.max.request.bytes": "5"}, "at least socket.request.max.bytes"),
        ({"offsets.commit.required.acks": "4"}, "offsets.topic.replication.factor"),
        ({"offsets.topic.compression.codec": "5"}, "between 0 and 4"),
        (
            {"group.consumer.session.timeout.ms": "1"},
            r"at least group.consumer.min.session.timeout.ms \(45000\)",
        ),
        ({"principal.builder.class": "x.Y"}, "DefaultKafkaPrincipalBuilder"),
        ({"authorizer.class.name": "x.Y"}, "empty or one of kafka.security.authorizer.AclAuth"),
    ],
)
def test_settings_that_do_not_fit_are_refused_with_what_would(
    texts: dict[str, str], words: str
) -> None:
    with pytest.raises(InvalidConfig, match=words):
        check_broker_config(read_broker_config(texts))


@pytest.mark.parametrize(
    "texts",
    [
        {},
        {"log.retention.ms": "-1"},
        {"log.cleaner.enable": "false", "log.cleaner.threads": "0"},
        {"max.connections.per.ip": "0", "max.connections.per.ip.overrides": "127.0.0.1:5"},
        {"connections.max.idle.ms": "-1"},
        {"authorizer.class.name": "kafka.security.authorizer.AclAuthorizer"},
    ],
)
def test_settings_that_fit_are_taken(texts: dict[str, str]) -> None:
    check_broker_config(read_broker_config(texts))
