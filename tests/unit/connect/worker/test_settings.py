"""A worker's properties, as Java's files have them."""

import pytest

from moldau.connect.errors import ConfigError
from moldau.connect.worker.settings import WorkerSettings


def test_topics_have_kafkas_numbers_of_partitions() -> None:
    settings = WorkerSettings({"offset.storage.topic": "o", "status.storage.partitions": "2"})
    found = [(each.name, each.partitions, each.replication_factor) for each in settings.topics()]
    assert found == [("connect-configs", 1, None), ("o", 25, None), ("connect-status", 2, None)]


def test_loopback_is_listened_on_unless_told_otherwise() -> None:
    assert (WorkerSettings({}).host, WorkerSettings({}).port) == ("localhost", 8083)
    other = WorkerSettings({"listeners": "http://0.0.0.0:9,https://x:1"})
    assert (other.host, other.port) == ("0.0.0.0", 9)
    with pytest.raises(ConfigError, match="listeners"):
        _ = WorkerSettings({"listeners": "http://x:y"}).port


def test_a_listener_speaks_tls_with_a_certificate_of_its_own() -> None:
    client = {"ssl.keystore.location": "client.pem"}
    assert WorkerSettings({"listeners": "http://x:1", **client}).certificate is None
    https = {"listeners": "https://x:1"}
    assert WorkerSettings({**https, **client}).certificate == "client.pem"
    own = {"listeners.https.ssl.keystore.location": "rest.pem"}
    assert WorkerSettings({**https, **client, **own}).certificate == "rest.pem"
    with pytest.raises(ConfigError, match=r"https needs listeners\.https\.ssl"):
        _ = WorkerSettings(https).certificate
    with pytest.raises(ConfigError, match="begins with http"):
        _ = WorkerSettings({"listeners": "SASL://x:1"}).port
    assert WorkerSettings({"rest.users.file": "u"}).users_file == "u"


def test_a_client_has_the_workers_settings_then_its_own_then_the_connectors() -> None:
    settings = WorkerSettings(
        {"bootstrap.servers": "b", "sasl.mechanism": "PLAIN", "producer.acks": "1", "x": "y"}
    )
    found = settings.client("producer.", {"producer.override.acks": "all", "topic": "t"})
    assert found == {"bootstrap.servers": "b", "sasl.mechanism": "PLAIN", "acks": "all"}


def test_settings_without_effect_are_named(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    WorkerSettings({"plugin.path": "x", "group.id": "g"}).log_ignored()
    assert [each.args for each in caplog.records] == [("plugin.path",)]


def test_tasks_work_in_the_worker_unless_it_says_spark() -> None:
    assert WorkerSettings({}).engine == "direct"
    assert WorkerSettings({}).shutdown_s == 5
    spark = WorkerSettings({"engine": "Spark", "spark.master": "local[2]", "x": "y"})
    assert spark.engine == "spark"
    assert spark.shutdown_s == 60
    assert spark.spark_settings == {"spark.master": "local[2]"}
    with pytest.raises(ConfigError, match="engine: flink is neither direct nor spark"):
        _ = WorkerSettings({"engine": "flink"}).engine
