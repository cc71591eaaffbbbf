"""What a broker says in its log when it starts and stops."""

import pytest

from moldau.broker.announcement import announce_start, announce_stop, announce_warnings
from moldau.config.broker.startup import read_startup
from moldau.testing.broker import EmbeddedBroker


def test_the_start_says_where_everything_is(
    kafka: EmbeddedBroker, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "kafka.server.KafkaServer")

    async def announce() -> None:
        announce_start(kafka.running, metrics_port=9999)
        announce_stop(kafka.running)

    kafka.call(announce())
    said = [one.getMessage() for one in caplog.records if one.name == "kafka.server.KafkaServer"]
    port = kafka.bootstrap_servers.rpartition(":")[2]
    assert said[0] == f"listening on port {port} (PLAINTEXT)"
    assert said[1] == "metrics for Prometheus on http://127.0.0.1:9999/metrics"
    assert str(kafka.directory) in said[2]
    assert said[3:] == ["[KafkaServer id=0] started", "[KafkaServer id=0] shutting down"]


def test_odd_settings_are_warned_about(caplog: pytest.LogCaptureFixture) -> None:
    announce_warnings(read_startup({"host.name": "here"}))
    assert "host.name" in caplog.text
