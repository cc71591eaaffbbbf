"""The address of a broker that clients get."""

from moldau.broker.context import Client
from moldau.metadata.image import BrokerEndpoint, BrokerNode

WHERE_YOU_ARE = ""
"""An advertised host that stands for the address the client is connected to."""


def advertised_endpoint(node: BrokerNode, client: Client) -> BrokerEndpoint | None:
    """The broker's endpoint on the client's own listener, None if it has none.

    Without `advertised.listeners` a broker on the embedded store sends clients back to the
    address they came by, so that containers, tunnels and port forwarding work by themselves.
    """
    endpoint = node.endpoints.get(client.listener)
    if endpoint is None or endpoint.host != WHERE_YOU_ARE:
        return endpoint
    return BrokerEndpoint(client.local_host, client.local_port, endpoint.security_protocol)
