"""What a broker starts with."""

import json
from pathlib import Path

import pytest

from moldau.config.broker.startup import read_startup
from moldau.errors import InvalidConfig

_APACHE = Path(__file__).parents[1] / "apache-3.9-starts.jsonl"

_CLUSTERED = {"zookeeper.connect": "localhost:1"}
_ACCEPTED_HERE: list[dict[str, str]] = [{}]  # without ZooKeeper there is the embedded store
_REFUSED_HERE = [
    # Apache notices these only when it binds the socket or loads the class.
    {"listeners": "PLAINTEXT://h:70000", **_CLUSTERED},
    {"listeners": "PLAINTEXT://h:-1", **_CLUSTERED},
    {"authorizer.class.name": "x.Y", **_CLUSTERED},
    # Not available here.
    {"remote.log.storage.system.enable": "true", **_CLUSTERED},
]


def test_a_broker_starts_with_what_apache_kafka_starts_with() -> None:
    for line in _APACHE.read_text().splitlines():
        texts, is_accepted = json.loads(line)
        expected = (is_accepted or texts in _ACCEPTED_HERE) and texts not in _REFUSED_HERE
        try:
            read_startup(texts)
            accepts = True
        except InvalidConfig:
            accepts = False
        assert accepts == expected, texts


def test_alone_a_broker_may_listen_on_every_interface() -> None:
    startup = read_startup({"listeners": "PLAINTEXT://0.0.0.0:9092"})
    assert startup.config.is_standalone
    assert startup.listeners.bound[0].host == "0.0.0.0"


def test_settings_without_effect_are_told() -> None:
    startup = read_startup({"num.partition": "5"})
    assert startup.warnings == (
        "num.partition is not a known setting: did you mean num.partitions?",
    )


def test_brokers_must_offer_the_mechanism_that_they_use() -> None:
    texts = {
        "listeners": "SASL_PLAINTEXT://:1",
        "security.inter.broker.protocol": "SASL_PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN",
    }
    with pytest.raises(InvalidConfig, match=r"one of sasl.enabled.mechanisms \(PLAIN\)"):
        read_startup(texts)
    read_startup({**texts, "sasl.mechanism.inter.broker.protocol": "PLAIN"})
