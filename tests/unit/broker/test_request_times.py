"""Request times: what was local, what was a wait for others."""

from moldau.broker.request_times import RequestTimes
from moldau.runtime.metrics import Metrics

MS = 1_000_000


def test_each_request_is_in_all_of_them() -> None:
    metrics = Metrics()
    times = RequestTimes(metrics, "Fetch")
    times.record_at_once(2 * MS)
    times.record_waited(1 * MS, 500 * MS)
    sums = {"totaltimems": 503, "localtimems": 3, "remotetimems": 500, "requestqueuetimems": 0}
    text = metrics.text()
    for name, milliseconds in sums.items():
        full = f"kafka_network_requestmetrics_{name}"
        assert f'{full}_sum{{request="Fetch"}} {milliseconds}.000000\n' in text
        assert f'{full}_count{{request="Fetch"}} 2\n' in text


def test_a_request_that_never_waited_was_not_remote() -> None:
    times = RequestTimes(Metrics(), "Fetch")
    times.record_at_once(2 * MS)
    assert times.remote().quantile_ms(0.99) == 0
    assert times.local().quantile_ms(0.99) >= 2
