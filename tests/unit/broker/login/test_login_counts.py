"""What is counted of logins."""

from moldau.broker.login.login_counts import LoginCounts
from moldau.runtime.metrics import Metrics


def test_counters_have_the_names_of_kafka_s() -> None:
    metrics = Metrics()
    LoginCounts(metrics, "SASL_SSL").failed.add()
    line = (
        'kafka_server_socket_server_metrics_failed_authentication_total{listener="SASL_SSL",'
        'networkProcessor="0"} 1\n'
    )
    assert line in metrics.text()
    assert "expired_connections_killed_count" in metrics.text()
