"""What a broker says in its log when it starts and stops."""

from collections.abc import Callable

import pytest

from moldau.broker.announcement import (
    announce_metrics,
    announce_start,
    announce_stop,
    announce_stopped,
    announce_warnings,
)
from moldau.config.broker.startup import read_startup
from moldau.testing.broker import EmbeddedBroker


@pytest.fixture
def said(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    caplog.set_level("INFO", "kafka.server.KafkaServer")
    return lambda: [
        one.getMessage() for one in caplog.records if one.name == "kafka.server.KafkaServer"
    ]


@pytest.mark.parametrize("is_private", [True, False])
def test_the_start_says_where_everything_is(
    kafka: EmbeddedBroker, said: Callable[[], list[str]], is_private: bool
) -> None:
    kafka.look(lambda _: announce_start(kafka.running, is_private=is_private))
    port = kafka.bootstrap_servers.rpartition(":")[2]
    where, *hints, directory, started = said()
    assert where == f"listening on port {port} (PLAINTEXT) of 127.0.0.1"
    assert ["--host 0.0.0.0" in hint for hint in hints] == ([True] if is_private else [])
    assert str(kafka.directory) in directory
    assert started == "[KafkaServer id=0] started"


@pytest.mark.parametrize(
    ("host", "place", "hint"),
    [
        ("localhost", "localhost", "; other machines need --metrics-host 0.0.0.0"),
        ("::1", "[::1]", ""),
        ("", "0.0.0.0", ""),
    ],
)
def test_the_place_of_the_metrics_is_said(
    said: Callable[[], list[str]], host: str, place: str, hint: str
) -> None:
    announce_metrics(host, 9)
    where = f"metrics for Prometheus on http://{place}:9/metrics, health on /readyz"
    assert said() == [where + hint]


def test_the_stop_says_what_the_next_start_will_find(
    kafka: EmbeddedBroker, said: Callable[[], list[str]]
) -> None:
    kafka.look(lambda _: announce_stop(kafka.running))
    volume = kafka.running.broker.logs.directories[0].volume
    kafka.look(lambda _: announce_stopped(kafka.running))
    volume.failure = OSError("the cable is out")
    kafka.look(lambda _: announce_stopped(kafka.running))
    volume.failure = None
    completed = "[KafkaServer id=0] shut down completed: 0 logs are on disk and closed"
    assert said() == [
        "[KafkaServer id=0] shutting down",
        completed,
        completed,
        f"offline, so recovered by the next start: {volume.path}",
    ]


def test_odd_settings_are_warned_about(caplog: pytest.LogCaptureFixture) -> None:
    announce_warnings(read_startup({"host.name": "here"}))
    assert "host.name" in caplog.text
