"""What settings make of three brokers: listeners, throttles, new topics, who leads."""

from collections.abc import Iterator, Mapping, Sequence

import pytest

from conformance.apache.broker import free_port
from conformance.apache.marks import needs_apache
from conformance.our_broker import OurBroker
from conformance.our_cluster import OurCluster, our_cluster, until
from conformance.test_cluster import RECORDS, Sender, consume, create
from conformance.test_cluster_admin import (
    SET,
    reassign,
    replicas_of,
    set_topic_config,
)
from moldau.coordination.layout import brokers as broker_nodes
from moldau.coordination.layout import topics as topic_nodes
from moldau.errors import ErrorCode
from moldau.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from moldau.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from moldau.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from moldau.testing.wire import WireClient

pytestmark = needs_apache("kafka-3.9")

BROKER_RESOURCE = 4
LARGE = "." * 10_000
SETTINGS = {
    "listener.security.protocol.map": "CLIENTS:PLAINTEXT,BROKERS:PLAINTEXT",
    "inter.broker.listener.name": "BROKERS",
    "auto.leader.rebalance.enable": "true",
    "leader.imbalance.check.interval.seconds": "1",
    "replica.fetch.max.bytes": "100000",
}


def two_listeners(broker: OurBroker) -> Mapping[str, str]:
    host = "127.0.0.1"
    return {"listeners": f"CLIENTS://{host}:{broker.port},BROKERS://{host}:{free_port()}"}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OurCluster]:
    directory = tmp_path_factory.mktemp("cluster")
    with our_cluster(directory, SETTINGS, two_listeners) as running:
        yield running


@pytest.fixture
def cluster(shared: OurCluster) -> OurCluster:
    shared.start()
    until(lambda: shared.live() == {1, 2, 3} and shared.controller(), "all brokers are there")
    return shared


def test_clients_and_brokers_have_a_listener_of_their_own(cluster: OurCluster) -> None:
    create(cluster, "listened")
    sender = Sender(cluster, "listened")
    sender.send()
    assert sender.errors == []
    ports: dict[str, dict[int, int]] = {"CLIENTS": {}, "BROKERS": {}}
    for number in cluster.brokers:
        data, _ = cluster.tree.get(broker_nodes.id_path(number))
        for endpoint in broker_nodes.decode_broker(data).endpoints:
            ports[endpoint.listener][number] = endpoint.port
    assert ports["CLIENTS"] == {number: one.port for number, one in cluster.brokers.items()}
    for found in ports.values():
        with WireClient(f"127.0.0.1:{found[1]}") as client:
            answer = client.ask(MetadataRequest(topics=[]))
        assert {broker.node_id: broker.port for broker in answer.brokers} == found
    assert sorted(consume(cluster, "listened", RECORDS)) == sorted(sender.acknowledged)


def test_any_broker_creates_a_topic_that_somebody_asks_for(cluster: OurCluster) -> None:
    controller = until(cluster.controller, "there is a controller")
    number = next(one for one in cluster.brokers if one != controller)
    topic = MetadataRequestTopic(name="asked-for")
    with WireClient(cluster.brokers[number].bootstrap) as client:
        client.ask(MetadataRequest(topics=[topic], allow_auto_topic_creation=True))
    until(lambda: cluster.tree.exists(topic_nodes.topic_path("asked-for")), "it is there")
    assert sorted(replicas_of(cluster, "asked-for")) == [1, 2, 3]
    until(
        lambda: cluster.tree.exists(f"{topic_nodes.partitions_path('asked-for')}/0/state"),
        "it is led",
    )
    cluster.until_in_sync("asked-for")


def test_who_should_lead_leads_again_after_a_while(cluster: OurCluster) -> None:
    create(cluster, "rebalanced")
    before = cluster.state("rebalanced")
    assert before.leader == replicas_of(cluster, "rebalanced")[0]
    cluster.brokers[before.leader].stop()
    cluster.until_led_by_another("rebalanced", before)
    cluster.start()
    until(lambda: cluster.state("rebalanced").leader == before.leader, "it leads again")


def set_rates(cluster: OurCluster, rate: int) -> None:
    """How many bytes a second throttled replicas may have, from and to every broker."""
    names = [f"{side}.replication.throttled.rate" for side in ("leader", "follower")]
    configs = [AlterableConfig(name=one, config_operation=SET, value=str(rate)) for one in names]
    for number, broker in cluster.brokers.items():
        resource = AlterConfigsResource(
            resource_type=BROKER_RESOURCE, resource_name=str(number), configs=configs
        )
        request = IncrementalAlterConfigsRequest(resources=[resource], validate_only=False)
        with WireClient(broker.bootstrap) as client:
            (answer,) = client.ask(request).responses
            assert answer.error_code == ErrorCode.NONE
            until(
                lambda: values_of(client, number, names) == [str(rate)] * 2,  # noqa: B023
                f"broker {number} keeps to {rate}",
            )


def values_of(client: WireClient, number: int, names: Sequence[str]) -> list[str | None]:
    """Settings as a broker has them."""
    resource = DescribeConfigsResource(
        resource_type=BROKER_RESOURCE, resource_name=str(number), configuration_keys=list(names)
    )
    (result,) = client.ask(DescribeConfigsRequest(resources=[resource])).results
    return [config.value for config in result.configs]


def test_a_throttled_move_takes_its_time_and_holds_up_nobody(cluster: OurCluster) -> None:
    create(cluster, "throttled")
    first, second, third = replicas_of(cluster, "throttled")
    assert reassign(cluster, "throttled", [first, second]) == ErrorCode.NONE
    until(lambda: replicas_of(cluster, "throttled") == (first, second), "two have it")
    for side in ("leader", "follower"):
        set_topic_config(cluster, "throttled", f"{side}.replication.throttled.replicas", "*")
    set_rates(cluster, 1000)
    sender = Sender(cluster, "throttled")
    sender.send(100, padding=LARGE)
    assert reassign(cluster, "throttled", [first, second, third]) == ErrorCode.NONE
    segment = cluster.brokers[third].log_directory / "throttled-0" / f"{0:020}.log"
    until(lambda: segment.exists() and segment.stat().st_size > 0, "it has begun")
    for _ in range(3):
        sender.send()
    assert third not in cluster.state("throttled").isr
    assert segment.stat().st_size < 100 * len(LARGE)
    set_rates(cluster, 2**40)
    cluster.until_in_sync("throttled")
    assert sender.errors == []
