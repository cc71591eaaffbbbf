"""Settings of the connectors."""

import logging

import pytest

from moldau.connect.config.validation import SOURCE, validate
from moldau.connect.connectors.mariadb.settings import (
    BINLOG_SETTINGS,
    capture_settings,
    log_ignored,
    refused_settings,
)

GOOD = {
    "name": "c",
    "connector.class": "MariaDbConnector",
    "database.hostname": "h",
    "database.user": "u",
    "topic.prefix": "p",
}


def errors(**changed: str) -> list[str]:
    named = {name.replace("_", "."): text for name, text in changed.items()}
    return validate("MariaDbConnector", SOURCE, BINLOG_SETTINGS, {**GOOD, **named}).errors


def test_what_debezium_needs_is_enough() -> None:
    assert errors() == []
    assert errors(database_server_id="5", database_ssl_mode="verify-ca") == []


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("snapshot_mode", "schema_only", "it is called no_data"),
        ("time_precision_mode", "adaptive", "String must be one of"),
        ("snapshot_locking_mode", "all", "String must be one of"),
        ("bigint_unsigned_handling_mode", "x", "String must be one of"),
    ],
)
def test_what_is_not_here_is_refused_with_a_sentence(name: str, value: str, why: str) -> None:
    (error,) = errors(**{name: value})
    assert why in error


def test_settings_mean_something() -> None:
    found = capture_settings({**GOOD, "skipped.operations": "none", "poll.interval.ms": "20"})
    assert (found.prefix, found.locking, found.skipped, found.limits.poll_s) == (
        *("p", "minimal", frozenset(), 0.02),
    )


def test_what_would_change_records_is_refused_and_the_rest_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    refused = refused_settings(
        {
            "gtid.source.includes": "x",
            "table.ignore.builtin": "true",
            "database.ssl.truststore.password": "secret",
            "signal.data.collection": "d.t",
        }
    )
    assert set(refused) == {
        *("gtid.source.includes", "database.ssl.truststore.password", "signal.data.collection")
    }
    assert "secret" not in str(refused)
    with caplog.at_level(logging.WARNING):
        log_ignored({"schema.history.internal.kafka.topic": "h", "include.query": "true"})
    assert len(caplog.messages) == 2
