"""Mistakes in settings are found before anything is started."""

from moldau.connect.worker.lint import lint
from moldau.connect.worker.plugins import Plugins

PLUGINS = Plugins()


def found(config: dict[str, str], worker: dict[str, str] | None = None) -> list[str]:
    return [str(each) for each in lint(worker or {}, {"c": {"name": "c", **config}}, PLUGINS)]


def test_a_right_connector_has_no_findings() -> None:
    config = {
        "connector.class": "JdbcSink",
        "connection.url": "jdbc:sqlite:/none/d",
        "topics": "t",
        "insert.mode": "upsert",
        "pk.mode": "record_key",
        "value.converter": "JsonConverter",
        "value.converter.schemas.enable": "false",
        "consumer.override.max.poll.records": "1",
        "transforms": "a",
        "transforms.a.type": "RegexRouter",
        "transforms.a.regex": "x",
        "transforms.a.replacement": "y",
    }
    assert found(config) == []


def test_what_may_have_been_meant_is_said() -> None:
    assert found({"connector.class": "JdbcSnk"}) == [
        "c: error: connector.class: JdbcSnk is not here; is JdbcSink meant?"
    ]
    assert found({}) == ["c: error: connector.class is missing"]
    config = {"connector.class": "FileStreamSource", "topic": "t", "fiel": "/x", "file": "/x"}
    assert found(config) == ["c: warning: fiel is no setting of this connector; is file meant?"]
    unlisted = {**config, "transforms.x.type": "Filter"}
    del unlisted["fiel"]
    assert found(unlisted) == ["c: warning: transforms.x.type: transforms does not list x"]


def test_what_a_part_refuses_is_an_error() -> None:
    sink = {"connector.class": "JdbcSink", "connection.url": "jdbc:sqlite:d", "topics": "t"}
    for more, why in (
        ({"insert.mode": "upsert"}, "needs a primary key"),
        ({"insert.mode": "wrong"}, "String must be one of"),
        ({"tasks.max": "x"}, "Not a number"),
        ({"value.converter": "Nope"}, "Class Nope could not be found"),
        ({"value.converter": "AvroConverter"}, "schema.registry.url"),
        ({"transforms": "a", "transforms.a.type": "Nope"}, "Class Nope could not be found"),
    ):
        errors = found({**sink, **more})
        assert errors, more
        assert all(each.startswith("c: error: ") for each in errors)
        assert why in errors[0]


def test_values_of_providers_are_looked_up_and_not_shown() -> None:
    worker = {
        "config.providers": "env",
        "config.providers.env.class": (
            "org.apache.kafka.common.config.provider.EnvVarConfigProvider"
        ),
    }
    config = {"connector.class": "FileStreamSource", "topic": "t", "file": "${env:MOLDAU_NONE}"}
    (error,) = found(config, worker)
    assert "MOLDAU_NONE" in error
    (wrong,) = lint({**worker, "config.providers.env.class": "x"}, {"c": config}, PLUGINS)
    assert wrong.connector == "worker"


def test_rules_for_topics_are_looked_at() -> None:
    config = {"connector.class": "FileStreamSource", "topic": "t", "file": "f"}
    (error,) = found({**config, "topic.creation.groups": "x"})
    assert 'Missing required configuration "topic.creation.default.replication.factor"' in error
