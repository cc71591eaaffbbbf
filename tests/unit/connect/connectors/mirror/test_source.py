"""Topics of another cluster are copied, each record once."""

from contextlib import suppress

import pytest

from moldau.client.admin.configs import ConfigResource
from moldau.client.blocking.admin import Admin
from moldau.client.blocking.producer import Producer
from moldau.connect.connector import HomeCluster
from moldau.connect.connectors.mirror.source import MirrorSource
from moldau.connect.errors import ConfigError, ConnectError, RetriableConnectError
from unit.connect.connectors.mirror.mirrored import (
    IDENTITY,
    Clusters,
    create,
    partitions_of,
    read,
    texts,
    write,
)
from unit.connect.started import until


def test_records_are_the_same_in_every_part(clusters: Clusters) -> None:
    create(clusters.old, "whole", 3)
    headers = (("a", b"\xff\x00"), ("none", None), ("a", b"again"))
    with Producer[bytes, bytes](bootstrap_servers=clusters.old.bootstrap_servers) as producer:
        for partition in range(3):
            producer.send(
                "whole", b"\xfe%d" % partition, key=b"\xff", partition=partition,
                timestamp_ms=1000 + partition, headers=headers,
            )  # fmt: skip
        producer.send("whole", None, key=b"deleted", partition=1, timestamp_ms=5)
        producer.send("whole", b"no key", partition=2, timestamp_ms=6)
    clusters.mirror("whole", "whole", tasks_max="2")
    found = clusters.until_copied("old.whole", [b"\xfe0", b"\xfe1", b"\xfe2", None, b"no key"])
    shown = [
        (each.partition, each.key, each.value, each.timestamp, tuple(each.headers))
        for each in sorted(found, key=lambda each: (each.partition, each.offset))
    ]
    assert shown == [
        (0, b"\xff", b"\xfe0", 1000, headers),
        (1, b"\xff", b"\xfe1", 1001, headers),
        (1, b"deleted", None, 5, ()),
        (2, b"\xff", b"\xfe2", 1002, headers),
        (2, None, b"no key", 6, ()),
    ]
    assert clusters.worker.states("whole") == ["RUNNING", "RUNNING", "RUNNING"]
    clusters.delete("whole")


def test_it_goes_on_where_it_was_and_shows_where_that_is(clusters: Clusters) -> None:
    write(clusters.old, "on", range(10))
    clusters.mirror("on", "on")
    clusters.until_copied("old.on", texts(range(10)))
    clusters.worker.ask("PUT", "/connectors/on/stop")
    write(clusters.old, "on", range(10, 20))
    partition = {"cluster": "old", "partition": 0, "topic": "on"}
    known = {"offsets": [{"partition": partition, "offset": {"offset": 9}}]}
    assert clusters.worker.ask("GET", "/connectors/on/offsets") == (200, known)
    clusters.worker.ask("PUT", "/connectors/on/resume")
    clusters.until_copied("old.on", texts(range(20)))
    clusters.delete("on")


def test_what_was_taken_back_in_the_source_is_not_copied(clusters: Clusters) -> None:
    create(clusters.old, "taken")
    with Producer[bytes, bytes](
        bootstrap_servers=clusters.old.bootstrap_servers, transactional_id="t"
    ) as producer:
        for number in range(6):
            with suppress(KeyError), producer.transaction():
                producer.send("taken", b"%d" % number)
                producer.flush()
                if number % 2:
                    raise KeyError
    write(clusters.old, "taken", ["last"])
    clusters.mirror("taken", "taken")
    clusters.until_copied("old.taken", [b"0", b"2", b"4", b"last"])
    clusters.delete("taken")


def test_new_topics_partitions_and_settings_are_found(clusters: Clusters) -> None:
    create(clusters.old, "grow-a", retention_ms="1234567", min_insync_replicas="2")
    write(clusters.old, "grow-a", ["first"])
    clusters.mirror("grow", "grow-.*", topics_exclude="grow-not, .*internal")
    clusters.until_copied("old.grow-a", [b"first"])
    assert setting(clusters, "old.grow-a", "retention.ms") == "1234567"
    assert setting(clusters, "old.grow-a", "min.insync.replicas") == "1", "it is excluded"
    with Admin(bootstrap_servers=clusters.old.bootstrap_servers) as admin:
        admin.create_partitions({"grow-a": 3}).check()
        topic = ConfigResource.topic("grow-a")
        changes = {"max.message.bytes": "54321", "retention.ms": None}
        admin.incremental_alter_configs({topic: changes}).check()
    create(clusters.old, "grow-b", 2)
    create(clusters.old, "grow-not")
    write(clusters.old, "grow-a", ["second"], partition=2)
    write(clusters.old, "grow-b", ["other"], partition=1)
    clusters.until_copied("old.grow-a", [b"first", b"second"])
    clusters.until_copied("old.grow-b", [b"other"])
    assert partitions_of(clusters.new, "old.grow-a") == 3
    until(lambda: setting(clusters, "old.grow-a", "max.message.bytes") == "54321")
    assert setting(clusters, "old.grow-a", "retention.ms") == "604800000"
    with Admin(bootstrap_servers=clusters.new.bootstrap_servers) as admin:
        assert "old.grow-not" not in admin.list_topics()
    clusters.delete("grow")


def setting(clusters: Clusters, topic: str, name: str) -> str | None:
    resource = ConfigResource.topic(topic)
    with Admin(bootstrap_servers=clusters.new.bootstrap_servers) as admin:
        return admin.describe_configs([resource])[resource][name].value


def test_names_can_be_kept_and_the_workers_own_topics_are_left_alone(clusters: Clusters) -> None:
    write(clusters.old, "kept", ["same"])
    write(clusters.old, "connect-configs", ["harm"])
    clusters.mirror("kept", "kept,connect-configs", replication_policy_class=IDENTITY)
    clusters.until_copied("kept", [b"same"])
    assert b"harm" not in {each.value for each in read(clusters.new, "connect-configs")}
    clusters.delete("kept")


def test_topics_that_have_come_from_the_target_do_not_go_back(clusters: Clusters) -> None:
    for topic in ("new.circle", "circle.internal", "circle"):
        write(clusters.old, topic, [topic])
    clusters.mirror("circle", ".*circle.*", topics_exclude="none")
    clusters.until_copied("old.circle", [b"circle"])
    with Admin(bootstrap_servers=clusters.new.bootstrap_servers) as admin:
        assert [each for each in admin.list_topics() if "circle" in each] == ["old.circle"]
    clusters.delete("circle")


def test_transformations_and_converters_of_the_connector_apply(clusters: Clusters) -> None:
    write(clusters.old, "changed", [1, 2])
    route = {
        "transforms": "r",
        "transforms.r.type": "RegexRouter",
        "transforms.r.regex": r"old\.(.*)",
        "transforms.r.replacement": "routed-$1",
    }
    clusters.worker.put("changed", {**clusters.settings("changed"), **route})
    clusters.until_copied("routed-changed", [b"1", b"2"])
    clusters.delete("changed")


def test_lag_and_records_are_counted(clusters: Clusters) -> None:
    create(clusters.old, "counted", 2)
    write(clusters.old, "counted", range(5))
    write(clusters.old, "counted", range(5), partition=1)
    clusters.mirror("counted", "counted", tasks_max="2")
    lag = 'moldau_connect_source_measurement{connector="counted",name="lag_records.counted"} 0'
    records = 'moldau_connect_records_total{connector="counted"} 10'
    until(lambda: {lag, records} <= set(clusters.worker.text("/metrics").splitlines()))
    clusters.delete("counted")


def test_errors_name_the_cluster_and_no_secrets(clusters: Clusters) -> None:
    config = clusters.settings("named")
    secret = {
        "source.cluster.security.protocol": "SASL_PLAINTEXT",
        "source.cluster.sasl.mechanism": "PLAIN",
        "source.cluster.sasl.jaas.config": "no module s3cret",
    }
    with pytest.raises(ConfigError, match=r"source cluster old: .*sasl\.jaas\.config") as refused:
        MirrorSource({**config, **secret}).partitions()
    assert "s3cret" not in str(refused.value)
    silent = {"bootstrap.servers": "127.0.0.1:1", "default.api.timeout.ms": "200"}
    mirror = MirrorSource(config)
    mirror.use_home(HomeCluster(silent, frozenset()))
    with pytest.raises(RetriableConnectError, match="target cluster new: no broker"):
        mirror.partitions()
    mirror.close()


def test_offsets_that_somebody_sets_are_checked(clusters: Clusters) -> None:
    mirror = MirrorSource(clusters.settings("checked"))
    partition = {"cluster": "old", "partition": 0, "topic": "checked"}
    mirror.check_offset(partition, {"offset": 5})
    mirror.check_offset({"anything": 1}, None)
    for wrong, offset in (({"topic": "t"}, {"offset": 5}), (partition, {"offset": "5"})):
        with pytest.raises(ConnectError):
            mirror.check_offset(wrong, offset)


def test_it_can_begin_with_what_comes_now(clusters: Clusters) -> None:
    write(clusters.old, "now", ["before"])
    name = "source.consumer.auto.offset.reset"
    clusters.worker.put("now", {**clusters.settings("now"), name: "latest"})
    partition = {"cluster": "old", "partition": 0, "topic": "now"}
    known = {"offsets": [{"partition": partition, "offset": {"offset": 0}}]}
    until(lambda: clusters.worker.ask("GET", "/connectors/now/offsets") == (200, known))
    write(clusters.old, "now", ["after"])
    clusters.until_copied("old.now", [b"after"])
    clusters.delete("now")
