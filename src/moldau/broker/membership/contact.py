"""A connection to a broker that is only there to see whether its process is."""

from collections.abc import Callable

from moldau.controller.cluster import LiveBroker
from moldau.controller.lookout import OpenContact
from moldau.net.channel import Channel, ChannelLimits
from moldau.protocol.messages.api_versions import ApiVersionsRequest

_ANY_VERSION = 0  # what every broker knows
# The watch itself says when to call again, and after so long nobody has answered.
LIMITS = ChannelLimits(timeout_s=2.0, backoff_s=0.0)

OpenChannel = Callable[[str, int], Channel]


class ChannelContact:
    """Asks for what every broker answers to everybody."""

    def __init__(self, channel: Channel | None) -> None:
        """Without a channel there is no way to the broker."""
        self._channel = channel

    async def call(self) -> None:
        """Have the broker answer; OSError if it does not."""
        if self._channel is None:
            raise ConnectionError("the broker has no listener for other brokers")
        await self._channel.call(ApiVersionsRequest(), _ANY_VERSION)

    async def until_lost(self) -> None:
        """Return when the connection has ended."""
        if self._channel is not None:
            await self._channel.until_lost()

    def close(self) -> None:
        """Hang up."""
        if self._channel is not None:
            self._channel.close()


def contacts(listener: str, open_channel: OpenChannel) -> OpenContact:
    """Opens contacts to the listener of that name."""

    def open_contact(broker: LiveBroker) -> ChannelContact:
        for endpoint in broker.endpoints:
            if endpoint.listener == listener:
                return ChannelContact(open_channel(endpoint.host, endpoint.port))
        return ChannelContact(None)

    return open_contact
