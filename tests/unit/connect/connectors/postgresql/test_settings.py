"""Settings of the connector."""

import logging

import pytest

from moldau.connect.config.validation import SOURCE, validate
from moldau.connect.connectors.postgresql.settings import (
    POSTGRES_SETTINGS,
    capture_settings,
    log_ignored,
    refused_settings,
)
from moldau.connect.errors import ConfigError

GOOD = {
    "name": "c",
    "connector.class": "PostgresConnector",
    "database.hostname": "h",
    "database.user": "u",
    "database.dbname": "d",
    "topic.prefix": "p",
}


def errors(**changed: str) -> list[str]:
    named = {name.replace("_", "."): text for name, text in changed.items()}
    found = validate("PostgresConnector", SOURCE, POSTGRES_SETTINGS, {**GOOD, **named})
    return found.errors


def test_what_debezium_needs_is_enough() -> None:
    assert errors() == []
    assert len(validate("c", SOURCE, POSTGRES_SETTINGS, {"name": "c"}).errors) >= 4


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("plugin_name", "decoderbufs", "only pgoutput"),
        ("snapshot_mode", "custom", "classes of Java's"),
        ("snapshot_mode", "never", "it is called no_data"),
        ("snapshot_mode", "sometimes", "String must be one of: initial, always"),
        ("slot_name", "My-Slot", "must contain only digits"),
        ("topic_prefix", "a b", "part of topics' names"),
        ("skipped_operations", "x", "x is none of"),
        ("time_precision_mode", "exact", "String must be one of"),
    ],
)
def test_what_is_not_here_is_refused_with_a_sentence(name: str, value: str, why: str) -> None:
    (error,) = errors(**{name: value})
    assert why in error


def test_settings_mean_something() -> None:
    found = capture_settings({**GOOD, "skipped.operations": "none", "poll.interval.ms": "20"})
    assert (found.prefix, found.slot, found.skipped, found.limits.poll_s) == (
        *("p", "debezium", frozenset(), 0.02),
    )
    assert capture_settings({}).skipped == {"t"}
    with pytest.raises(ConfigError, match=r"snapshot\.mode: custom"):
        capture_settings({"snapshot.mode": "custom"})


def test_what_would_change_records_is_refused_and_the_rest_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    refused = refused_settings(
        {
            "column.mask.hash.SHA-256.with.salt.x": "a",
            "signal.data.collection": "s.t",
            "schema.name.adjustment.mode": "none",
            "topic.delimiter": ".",
            "snapshot.select.statement.overrides": "",
        }
    )
    assert set(refused) == {"column.mask.hash.SHA-256.with.salt.x", "signal.data.collection"}
    with caplog.at_level(logging.WARNING):
        log_ignored({"slot.drop.on.stop": "true", "topic.prefix": "p"})
    assert caplog.messages == [
        (
            "setting slot.drop.on.stop has no effect: the slot stays: a stop would lose changes; "
            "drop it by hand"
        )
    ]
