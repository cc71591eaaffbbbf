"""Dynamic settings."""

import pytest

from moldau.coordination.layout.configs import (
    CHANGE_PREFIX,
    ConfigEntity,
    decode_change,
    decode_config,
    encode_change,
    encode_config,
    parse_entity_path,
)
from moldau.coordination.layout.documents import NodeDataError
from unit.coordination.layout.conftest import Nodes


def test_settings_are_written_as_apache_kafka_writes_them(apache: Nodes) -> None:
    assert encode_config({"retention.ms": "5"}) == apache["config"]
    assert decode_config(apache["config"]) == {"retention.ms": "5"}
    assert encode_config({}) == apache["config-empty"]
    assert decode_config(b"") == {}


def test_a_change_is_told_as_apache_kafka_tells_it(apache: Nodes) -> None:
    assert encode_change(ConfigEntity.topic("T")) == apache["config-change"]
    assert decode_change(apache["config-change"]) == ConfigEntity.topic("T")
    assert CHANGE_PREFIX.encode() == apache["config-change-path"]


def test_a_change_of_version_1_names_type_and_name() -> None:
    data = b'{"version":1,"entity_type":"topics","entity_name":"T"}'
    assert decode_change(data) == ConfigEntity.topic("T")


@pytest.mark.parametrize(
    ("entity", "path"),
    [
        (ConfigEntity.topic("T"), "/config/topics/T"),
        (ConfigEntity.broker(7), "/config/brokers/7"),
        (ConfigEntity.broker(None), "/config/brokers/<default>"),
        (ConfigEntity("users", "al ice*"), "/config/users/al%20ice%2A"),
        (ConfigEntity("users", None), "/config/users/<default>"),
        (ConfigEntity("users", "<default>"), "/config/users/%3Cdefault%3E"),
        (ConfigEntity("clients", "c"), "/config/clients/c"),
        (ConfigEntity("ips", "127.0.0.1"), "/config/ips/127.0.0.1"),
        (ConfigEntity.user_client("u", "c/d"), "/config/users/u/clients/c%2Fd"),
        (ConfigEntity.user_client(None, None), "/config/users/<default>/clients/<default>"),
    ],
)
def test_an_entity_has_a_path_that_reads_back(entity: ConfigEntity, path: str) -> None:
    assert entity.path == path
    assert parse_entity_path(path.removeprefix("/config/")) == entity


@pytest.mark.parametrize("text", ["", "topics", "topics/", "colours/red", "users/u/clients"])
def test_a_path_of_no_entity_is_refused(text: str) -> None:
    with pytest.raises(NodeDataError, match="no entity"):
        parse_entity_path(text)
