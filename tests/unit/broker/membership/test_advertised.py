"""Where clients are sent."""

from dataclasses import replace

from moldau.broker.context import Client
from moldau.broker.membership.advertised import WHERE_YOU_ARE, advertised_endpoint
from moldau.metadata.image import BrokerEndpoint, BrokerNode

CLIENT = Client("INSIDE", "10.0.0.9", "10.0.0.1", 1234)


def test_each_listener_has_its_own_address() -> None:
    node = BrokerNode(1, {"INSIDE": BrokerEndpoint("in", 1), "OUTSIDE": BrokerEndpoint("out", 2)})
    assert advertised_endpoint(node, CLIENT) == BrokerEndpoint("in", 1)
    assert advertised_endpoint(node, replace(CLIENT, listener="OUTSIDE")) == BrokerEndpoint(
        "out", 2
    )


def test_a_broker_without_the_clients_listener_cannot_be_reached() -> None:
    assert advertised_endpoint(BrokerNode(1, {"OUTSIDE": BrokerEndpoint("out", 2)}), CLIENT) is None


def test_without_an_advertised_address_clients_come_back_where_they_came() -> None:
    node = BrokerNode(1, {"INSIDE": BrokerEndpoint(WHERE_YOU_ARE, 9092, 3)})
    assert advertised_endpoint(node, CLIENT) == BrokerEndpoint("10.0.0.1", 1234, 3)
