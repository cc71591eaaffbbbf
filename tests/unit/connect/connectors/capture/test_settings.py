"""Settings that Debezium's connectors share; PostgreSQL's are in its own test."""

import logging

import pytest

from moldau.connect.connectors.capture.settings import (
    batch_limits,
    chosen,
    log_ignored,
    refused_settings,
    skipped_operations,
    snapshot_mode,
)
from moldau.connect.errors import ConfigError


def test_limits_have_debeziums_names() -> None:
    found = batch_limits({"max.batch.size": "7", "poll.interval.ms": "20"})
    assert (found.batch_rows, found.poll_s, found.rows_max) == (7, 0.02, 20_000)
    assert batch_limits({"max.queue.size.in.bytes": "0"}).bytes_max == 32 * 2**20


def test_truncates_are_skipped_unless_none_is_said() -> None:
    assert skipped_operations({}) == {"t"}
    assert skipped_operations({"skipped.operations": "none"}) == frozenset()


def test_a_choice_that_there_is_not_is_refused() -> None:
    assert snapshot_mode({}) == "initial"
    with pytest.raises(ConfigError, match=r"snapshot\.mode: never: it is called no_data"):
        snapshot_mode({"snapshot.mode": "never"})
    assert chosen({"a": " B "}, "a", ("a", "b")) == "b"
    with pytest.raises(ConfigError, match="a: c is none of a, b"):
        chosen({"a": "c"}, "a", ("a", "b"))


def test_a_database_refuses_and_passes_over_more(caplog: pytest.LogCaptureFixture) -> None:
    refused = refused_settings({"own": "x", "converters": "a", "topic.x": "."}, {r"own": "why"})
    assert refused == {
        "own": "The 'own' value is invalid: why",
        "converters": "The 'converters' value is invalid: converters of columns are classes of "
        "Java's",
    }
    with caplog.at_level(logging.WARNING):
        log_ignored({"own": "x", "errors.max.retries": "3"}, {"own": "not here"})
    assert len(caplog.messages) == 2
