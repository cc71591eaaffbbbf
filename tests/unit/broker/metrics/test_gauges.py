"""Metrics that are read off the broker's parts when somebody looks."""

from moldau.broker.broker import Broker
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.wire import WireClient
from unit.broker.exposition import families, is_sentence
from unit.testing.requests import batch, fetch, metadata, produce


def values(kafka: EmbeddedBroker) -> dict[str, float]:
    text = kafka.look(lambda broker: broker.metrics.text())
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_every_number_of_a_dashboard_is_there(kafka: EmbeddedBroker) -> None:
    with WireClient(kafka.bootstrap_servers) as client:
        client.ask(metadata("orders"))
        data = batch(b"a", b"b")
        client.ask(produce("orders", data))
        client.ask(fetch("orders"), 12)
        found = values(kafka)
    log = '{topic="orders",partition="0"}'
    assert found[f"kafka_log_log_size{log}"] == len(data)
    assert found[f"kafka_log_log_logendoffset{log}"] == 2
    assert found[f"kafka_log_log_logstartoffset{log}"] == 0
    assert found[f"kafka_log_log_numlogsegments{log}"] == 1
    assert found["kafka_server_replicamanager_partitioncount"] == 1
    assert found["kafka_server_replicamanager_leadercount"] == 1
    assert found["kafka_server_replicamanager_underreplicatedpartitions"] == 0
    assert found["kafka_server_replicamanager_underminisrpartitioncount"] == 0
    assert found["kafka_server_replicafetchermanager_maxlag"] == 0
    assert found["kafka_server_replicamanager_isrshrinks_total"] == 0
    assert found["kafka_server_replicamanager_isrexpands_total"] == 0
    assert found["kafka_server_replicamanager_offlinereplicacount"] == 0
    assert found["kafka_controller_kafkacontroller_activecontrollercount"] == 1
    assert found["kafka_server_kafkaserver_brokerstate"] == 3
    connections = (
        "kafka_server_socket_server_metrics_connection_count"
        '{listener="PLAINTEXT",networkProcessor="0"}'
    )
    assert found[connections] == 1
    assert found["kafka_network_requestchannel_requestqueuesize"] == 0
    assert found["kafka_network_requestchannel_responsequeuesize"] == 0
    assert found["kafka_controller_kafkacontroller_offlinepartitionscount"] == 0
    assert 0 < found["kafka_network_socketserver_networkprocessoravgidle_percent"] <= 1
    assert 0 < found["kafka_server_kafkarequesthandlerpool_requesthandleravgidle_percent"] <= 1
    topic = '{topic="orders"}'
    assert found[f"kafka_server_brokertopicmetrics_messagesin_total{topic}"] == 2
    assert found[f"kafka_server_brokertopicmetrics_bytesin_total{topic}"] == len(data)
    assert found[f"kafka_server_brokertopicmetrics_bytesout_total{topic}"] == len(data)
    assert found["process_resident_memory_bytes"] > 1e6
    assert found["process_cpu_seconds_total"] > 0
    offline = f'kafka_log_logmanager_logdirectoryoffline{{logDirectory="{kafka.directory}"}}'
    assert found[offline] == 0


def test_every_metric_is_explained_and_well_formed(kafka: EmbeddedBroker) -> None:
    with WireClient(kafka.bootstrap_servers) as client:
        client.ask(metadata("orders", "payments"))
        client.ask(produce("orders", batch(b"a")))
        client.ask(produce("nowhere", batch(b"a")))
        client.ask(fetch("orders"), 12)
    found = families(kafka.look(lambda broker: broker.metrics.text()))
    assert len(found) > 60
    assert [name for name, family in found.items() if not is_sentence(family.about)] == []


def test_open_files_are_counted(kafka: EmbeddedBroker) -> None:
    before = values(kafka)
    with WireClient(kafka.bootstrap_servers) as client:
        client.ask(metadata())
        found = values(kafka)
    # A socket on either side: the broker is in this process.
    assert found["process_open_fds"] >= before["process_open_fds"] + 2
    assert found["process_open_fds"] < found["process_max_fds"]


def test_logs_that_come_while_the_page_is_made_do_no_harm(kafka: EmbeddedBroker) -> None:
    with WireClient(kafka.bootstrap_servers) as client:
        client.ask(metadata("a", "b"))
        lines = kafka.look(lambda broker: broker.metrics.lines())
        seen = ""
        while "kafka_log_log_size{" not in seen:
            seen += kafka.look(lambda _: next(lines))
        client.ask(metadata("c"))
        kafka.wait_for_topic("c")
        seen += kafka.look(lambda _: "".join(lines))
    sizes = families(seen)["kafka_log_log_size"].samples
    assert [series.split('"')[1] for series in sizes] == ["a", "b"]


def test_parked_requests_are_counted(kafka: EmbeddedBroker) -> None:
    name = 'kafka_server_delayedoperationpurgatory_purgatorysize{delayedOperation="Fetch"}'
    with WireClient(kafka.bootstrap_servers) as client:
        client.ask(metadata("orders"))
        assert values(kafka)[name] == 0
        client.send(fetch("orders", max_wait_ms=10_000, min_bytes=1), 12)
        kafka.wait_for(lambda broker: broker.waiters.counts["Fetch"] == 1)
        assert values(kafka)[name] == 1


def test_an_offline_directory_is_seen(kafka: EmbeddedBroker) -> None:
    with WireClient(kafka.bootstrap_servers) as client:
        client.ask(metadata("orders"))

    def fail_and_look(broker: Broker) -> list[float]:
        volume = broker.logs.directories[0].volume
        volume.failure = OSError("the cable is out")
        lines = broker.metrics.text().splitlines()
        volume.failure = None
        names = ("kafka_log_logmanager_logdir", "kafka_server_replicamanager_off")
        return [float(line.rpartition(" ")[2]) for line in lines if line.startswith(names)]

    assert kafka.look(fail_and_look) == [1, 1]


def test_fetch_sessions_and_errors_are_counted(kafka: EmbeddedBroker) -> None:
    with WireClient(kafka.bootstrap_servers) as client:
        client.ask(metadata("orders"))
        request = fetch("orders")
        request.session_id, request.session_epoch = 0, 0
        client.ask(request, 12)
        request.session_id, request.session_epoch = 99, 7
        client.ask(request, 12)
    found = values(kafka)
    prefix = "kafka_server_fetchsessioncache_"
    assert found[f"{prefix}numincrementalfetchsessions"] == 1
    assert found[f"{prefix}numincrementalfetchpartitionscached"] == 1
    assert found[f"{prefix}incrementalfetchsessionevictions_total"] == 0
    errors = "kafka_network_requestmetrics_errors_total"
    assert found[f'{errors}{{request="Fetch",error="FETCH_SESSION_ID_NOT_FOUND"}}'] == 1
    times = "kafka_network_requestmetrics_totaltimems_count"
    assert found[f'{times}{{request="FetchConsumer"}}'] == 2
    assert found[f'{times}{{request="Fetch"}}'] == 2
