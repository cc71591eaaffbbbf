"""Request times: what was local, what was a wait for others."""

from moldau.broker.metrics.request_times import RequestTimes, times_of_api
from moldau.protocol.messages.fetch import FetchRequest, ReplicaState
from moldau.runtime.metrics import Metrics

MS = 1_000_000


def test_each_request_is_in_all_of_them() -> None:
    metrics = Metrics()
    times = RequestTimes(metrics, "Fetch")
    times.record_at_once(2 * MS)
    times.record_waited(1 * MS, 500 * MS)
    sums = {
        "totaltimems": 503,
        "localtimems": 3,
        "remotetimems": 500,
        "requestqueuetimems": 0,
        "responsequeuetimems": 0,
        "responsesendtimems": 0,
        "throttletimems": 0,
    }
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


def test_fetches_are_counted_by_who_sends_them_and_together() -> None:
    metrics = Metrics()
    times = times_of_api(metrics, "Fetch")
    old, new, consumer = (FetchRequest(max_wait_ms=0, min_bytes=0, topics=[]) for _ in range(3))
    old.replica_id = 2
    new.replica_state = ReplicaState(replica_id=3)
    assert times.of(consumer) is times.usual
    for request in (old, new, consumer):
        times.of(request).record_at_once(1 * MS)
    times.of(old).record_waited(1 * MS, 5 * MS)
    text = metrics.text()
    total = "kafka_network_requestmetrics_totaltimems_count"
    for name, count in (("FetchConsumer", 1), ("FetchFollower", 3), ("Fetch", 4)):
        assert f'{total}{{request="{name}"}} {count}\n' in text
    assert 'kafka_network_requestmetrics_remotetimems_sum{request="Fetch"} 5.000000\n' in text


def test_other_requests_are_not_told_apart() -> None:
    assert times_of_api(Metrics(), "Produce").followers is None
