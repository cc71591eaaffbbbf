"""What a broker says in its log when it starts and stops."""

import logging
from typing import TYPE_CHECKING

from moldau.config.broker.startup import Startup

if TYPE_CHECKING:
    from moldau.broker.main import RunningBroker

# Scripts and test containers wait for Kafka's own line, its logger's name included.
_log = logging.getLogger("kafka.server.KafkaServer")


def announce_warnings(startup: Startup) -> None:
    """Say what is odd about the settings."""
    for sentence in startup.warnings:
        _log.warning("%s", sentence)


def announce_start(running: "RunningBroker", *, metrics_port: int | None) -> None:
    """Say where everything is, then that it has started."""
    broker = running.broker
    for name, port in running.ports.items():
        _log.info("listening on port %d (%s)", port, name)
    if metrics_port is not None:
        _log.info("metrics for Prometheus on http://127.0.0.1:%d/metrics", metrics_port)
    directories = ", ".join(broker.config.log_dirs)
    _log.info("cluster %s, %d logs in %s", broker.cluster_id, len(list(broker.logs)), directories)
    _log.info("[KafkaServer id=%d] started", broker.id)


def announce_stop(running: "RunningBroker") -> None:
    """Say that it is about to stop."""
    _log.info("[KafkaServer id=%d] shutting down", running.broker.id)
