"""What a broker says in its log when it starts and stops."""

import logging
from typing import TYPE_CHECKING

from moldau.config.broker.startup import Startup
from moldau.config.listeners import LOOPBACK

if TYPE_CHECKING:
    from moldau.broker.main import RunningBroker

# Scripts and test containers wait for Kafka's own lines, its logger's name included.
_log = logging.getLogger("kafka.server.KafkaServer")


def announce_warnings(startup: Startup) -> None:
    """Say what is odd about the settings."""
    for sentence in startup.warnings:
        _log.warning("%s", sentence)


def announce_metrics(host: str, port: int) -> None:
    """Say where metrics and health are, before the start: it may be watched there."""
    place = f"[{host}]" if ":" in host else host or "0.0.0.0"  # noqa: S104 - what was asked for
    hint = "; other machines need --metrics-host 0.0.0.0" if host == LOOPBACK else ""
    _log.info(
        "metrics for Prometheus on http://%s:%d/metrics, health on /readyz%s", place, port, hint
    )


def announce_start(running: "RunningBroker", *, is_private: bool) -> None:
    """Say where everything is, then that it has started.

    `is_private`: no listener is configured, so it is this machine alone.
    """
    broker = running.broker
    for listener in broker.listeners:
        name, host, port = listener.endpoint.name, listener.endpoint.host, listener.port
        _log.info("listening on port %d (%s) of %s", port, name, host or "all addresses")
    if is_private:
        _log.info(
            "only this machine can connect; --host 0.0.0.0, or listeners in a file, lets others in,"
            " without authentication"
        )
    directories = ", ".join(broker.config.log_dirs)
    _log.info("cluster %s, %d logs in %s", broker.cluster_id, len(list(broker.logs)), directories)
    _log.info("[KafkaServer id=%d] started", broker.id)


def announce_stop(running: "RunningBroker") -> None:
    """Say that it is about to stop."""
    _log.info("[KafkaServer id=%d] shutting down", running.broker.id)


def announce_stopped(running: "RunningBroker") -> None:
    """Say that it has stopped, and what the next start will find."""
    broker = running.broker
    closed = [one for one in broker.logs.directories if one.volume.is_online]
    failed = [one.volume.path for one in broker.logs.directories if not one.volume.is_online]
    count = sum(len(one.logs) for one in closed)
    _log.info(
        "[KafkaServer id=%d] shut down completed: %d logs are on disk and closed", broker.id, count
    )
    if failed:
        _log.warning("offline, so recovered by the next start: %s", ", ".join(failed))
