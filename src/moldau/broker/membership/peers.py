"""Requests to the brokers of the cluster: to this one in process, to others over channels."""

from collections.abc import Callable
from typing import NamedTuple

from moldau.broker.dispatch import Dispatcher
from moldau.broker.in_process import InProcess
from moldau.errors import ErrorCode, KafkaError
from moldau.net.channel import Channel
from moldau.protocol.apis import API_BY_KEY
from moldau.protocol.declaration import facts_of
from moldau.protocol.inter_broker import in_version, version_of
from moldau.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse

_ANY_VERSION = 0  # what every broker knows


class PeerAddress(NamedTuple):
    """Where a broker listens for other brokers."""

    host: str
    port: int


FindAddress = Callable[[int], PeerAddress | None]
OpenChannel = Callable[[str, int, str], Channel]
"""Makes a channel to a host and port, for a client of that id."""


class Peers:
    """A channel to each broker that something was sent to; one user's requests in order."""

    def __init__(
        self,
        broker_id: int,
        dispatcher: Dispatcher,
        find: FindAddress,
        *,
        protocol: str,
        open_channel: OpenChannel,
    ) -> None:
        """`protocol` is `inter.broker.protocol.version`."""
        self._broker_id = broker_id
        self._local = InProcess(dispatcher, protocol=protocol)
        self._find = find
        self._protocol = protocol
        self._open_channel = open_channel
        self._channels: dict[int, Channel] = {}
        self._offers: dict[int, dict[int, int]] = {}

    async def send(self, broker_id: int, request: object) -> object:
        """The broker's answer; OSError if it cannot be had."""
        if broker_id == self._broker_id:
            return await self._local.send(request)
        version = version_of(type(request), self._protocol)
        return await self._channel(broker_id).call(in_version(request, version), version)

    async def ask(self, broker_id: int, request: object) -> object:
        """The broker's answer; NETWORK_EXCEPTION if it cannot be had."""
        try:
            return await self.send(broker_id, request)
        except OSError as error:
            raise KafkaError(ErrorCode.NETWORK_EXCEPTION, str(error)) from error

    async def ask_newest(self, broker_id: int, request: object, *, least: int) -> object:
        """As `ask`, in the newest version that both know; UNSUPPORTED_VERSION below `least`.

        For the few requests whose version does not follow from the protocol of the cluster.
        """
        try:
            channel = self._channel(broker_id)
            key = facts_of(type(request)).api_key
            assert key is not None, "only requests are sent"
            version = await self._newest(channel, broker_id, key)
            if version < least:
                message = f"broker {broker_id} knows version {version}, {least} is needed"
                raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, message)
            return await channel.call(request, version)
        except OSError as error:
            # Perhaps it was replaced by one of another release.
            self._offers.pop(broker_id, None)
            raise KafkaError(ErrorCode.NETWORK_EXCEPTION, str(error)) from error

    def close(self) -> None:
        """Hang up."""
        for channel in self._channels.values():
            channel.close()

    async def _newest(self, channel: Channel, broker_id: int, key: int) -> int:
        """The newest version of an API that another broker and this one know; -1 for none."""
        offers = self._offers.get(broker_id)
        if offers is None:
            answer = await channel.call(ApiVersionsRequest(), _ANY_VERSION)
            assert isinstance(answer, ApiVersionsResponse)
            offers = {one.api_key: one.max_version for one in answer.api_keys}
            self._offers[broker_id] = offers
        return min(offers.get(key, -1), API_BY_KEY[key].versions.stop - 1)

    def _channel(self, broker_id: int) -> Channel:
        address = self._find(broker_id)
        if address is None:
            raise ConnectionError(f"broker {broker_id} is not there")
        channel = self._channels.get(broker_id)
        if channel is None or (channel.host, channel.port) != address:
            if channel is not None:
                channel.close()
                self._offers.pop(broker_id, None)
            channel = self._open_channel(*address, f"broker-{self._broker_id}")
            self._channels[broker_id] = channel
        return channel
