"""What a listener counts of its logins, by the names that Kafka's metrics have."""

from moldau.runtime.metrics import Counter, Metrics

_PREFIX = "kafka_server_socket_server_metrics_"


class LoginCounts:
    """The counters of one listener."""

    def __init__(self, metrics: Metrics, listener: str) -> None:
        def counter(name: str, about: str) -> Counter:
            labels = {"listener": listener, "networkProcessor": "0"}
            return metrics.counter(f"{_PREFIX}{name}", about, **labels)

        self.succeeded = counter(
            "successful_authentication_total", "Clients that have logged in by SASL."
        )
        self.failed = counter(
            "failed_authentication_total", "Clients that tried to log in and were refused."
        )
        self.renewed = counter(
            "successful_reauthentication_total", "Logins that were renewed in time (KIP-368)."
        )
        self.not_renewed = counter(
            "failed_reauthentication_total", "Logins that should be renewed and were refused."
        )
        self.expired = counter(
            "expired_connections_killed_count",
            "Connections that were closed since their login had ended.",
        )
