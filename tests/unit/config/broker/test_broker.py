"""All broker settings together."""

import pytest

from moldau.config.broker.broker import broker_areas, broker_settings, read_broker_config
from moldau.config.definition import settings_of
from moldau.errors import InvalidConfig
from unit.config.conftest import Table

# Kafka prints a sentence for these two, and tells only in its code what the others allow.
_OTHER_NOTATION = {
    "authorizer.class.name",
    "controller.quorum.bootstrap.servers",
    "controller.quorum.voters",
    "remote.log.manager.copier.thread.pool.size",
    "remote.log.manager.expiration.thread.pool.size",
}


def test_names_types_defaults_ranges_and_modes_are_those_of_apache_kafka(
    apache_broker_settings: Table,
) -> None:
    ours = {
        name: {
            "name": name,
            "type": setting.type.name,
            "default": setting.default_text,
            "importance": setting.importance.upper(),
            "validator": setting.rule.notation if setting.rule else None,
            "update": str(setting.update),
            "internal": str(setting.is_internal).lower(),
        }
        for name, setting in broker_settings().items()
        if not name.startswith("moldau.")
    }
    for name in _OTHER_NOTATION:
        ours[name]["validator"] = apache_broker_settings[name]["validator"]
    assert ours == apache_broker_settings


def test_every_setting_is_in_one_area_and_explained() -> None:
    assert sum(len(settings_of(area)) for area in broker_areas().values()) == len(broker_settings())
    for setting in broker_settings().values():
        assert setting.doc.endswith("."), setting.name


def test_values_are_read_into_their_area_and_found_by_name() -> None:
    config = read_broker_config({"socket.request.max.bytes": "5", "unknown": "x"})
    assert config.network.socket_request_max_bytes == 5
    assert config.value("socket.request.max.bytes") == 5


def test_without_zookeeper_internal_topics_need_one_broker() -> None:
    alone = read_broker_config({"zookeeper.connect": " "})
    assert alone.is_standalone
    assert alone.groups.offsets_topic_replication_factor == 1
    assert alone.transactions.transaction_state_log_replication_factor == 1
    assert alone.transactions.transaction_state_log_min_isr == 1
    assert alone.groups.group_initial_rebalance_delay_ms == 0
    chosen = read_broker_config({"offsets.topic.replication.factor": "2"})
    assert chosen.groups.offsets_topic_replication_factor == 2
    clustered = read_broker_config({"zookeeper.connect": "h:2181"})
    assert not clustered.is_standalone
    assert clustered.groups.offsets_topic_replication_factor == 3


@pytest.mark.parametrize("given", ["broker.id", "node.id"])
def test_broker_id_and_node_id_are_one_setting(given: str) -> None:
    config = read_broker_config({given: "7"})
    assert (config.general.broker_id, config.kraft.node_id) == (7, 7)


def test_log_dirs_stand_before_log_dir() -> None:
    assert read_broker_config({}).log_dirs == ("/tmp/kafka-logs",)
    assert read_broker_config({"log.dir": "/a"}).log_dirs == ("/a",)
    both = read_broker_config({"log.dir": "/a", "log.dirs": "/b, /c,,/b"})
    assert both.log_dirs == ("/b", "/c")


def test_a_refused_value_is_named() -> None:
    with pytest.raises(InvalidConfig, match=r"value 0 for configuration num.partitions: .*least 1"):
        read_broker_config({"num.partitions": "0"})
