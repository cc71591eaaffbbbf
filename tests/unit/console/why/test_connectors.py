"""A connector's errors say what it may be, and a restart is always offered."""

import time

import pytest

from moldau.console.why.connectors import why_connector


def failed(trace: str, state: str = "FAILED") -> dict[str, object]:
    part = {
        "id": 0,
        "state": state,
        "worker": "w:1",
        "error": trace[:50],
        "cause": "",
        "trace": trace,
    }
    address = "http://connect:8083"
    return {"name": "a/b", "state": "failed", "parts": [part], "address": address}


@pytest.mark.parametrize(
    ("trace", "expected"),
    [
        ("java.net.ConnectException: Connection refused", "cannot be reached"),
        ("FATAL: password authentication failed for user", "refuse its login"),
        ("org.apache.kafka.connect.errors.DataException: bad", "not in the format"),
        ("TopicAuthorizationException: Not authorized to access topics", "lacks access rules"),
        ("UnknownTopicOrPartitionException", "A topic is not there"),
        ("Topic orders is not present in metadata", "A topic is not there"),
        ("RecordTooLargeException", "larger than brokers"),
        ("ClassNotFoundException: org.postgresql.Driver", "driver is missing"),
        ("java.lang.OutOfMemoryError", "too little memory"),
        ("cannot use replication slot", "does not offer its changes"),
        ("ConfigException: Invalid value", "setting is missing or wrong"),
    ],
)
def test_errors_have_causes(trace: str, expected: str) -> None:
    causes = why_connector(failed(trace), "w").causes
    assert expected in " | ".join(each.text for each in causes)
    assert not any(each.is_certain for each in causes), "they are guessed"


def test_what_failed_can_be_started_again() -> None:
    found = why_connector(failed("<b>odd</b>"), "w")
    (cause,) = found.causes
    assert cause.remedy is not None
    assert cause.remedy.path == ("connect", "w", "connectors", "a/b", "restart")
    assert cause.remedy.body == {"only_failed": True}
    assert "http://connect:8083/connectors/a%2Fb/restart" in cause.command
    assert found.known[1] == "Task 0 is FAILED on w:1: <b>odd</b>"


def test_what_runs_has_no_cause() -> None:
    assert why_connector(failed("password", state="RUNNING"), "w").causes == []


def test_a_hostile_trace_takes_no_time() -> None:
    started = time.process_time()
    why_connector(failed("topic " * 100_000), "w")
    why_connector(failed("timed" * 100_000), "w")
    assert time.process_time() - started < 2
