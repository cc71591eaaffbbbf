"""Channels to other brokers, protected as the listener is that they share."""

from moldau.broker.login.own_login import own_login
from moldau.broker.settings.key_stores import KeyStores
from moldau.config.broker.startup import Startup
from moldau.net.channel import Channel, ChannelLimits
from moldau.runtime.clock import Clock


class Channels:
    """Opens channels to one listener of other brokers."""

    def __init__(
        self,
        startup: Startup,
        clock: Clock,
        listener: str | None = None,
        *,
        key_stores: KeyStores | None = None,
    ) -> None:
        """The listener is the inter-broker one unless named."""
        self.listener = listener or startup.listeners.inter_broker_name
        self._login = own_login(startup, clock, self.listener)
        self._tls = None if key_stores is None else key_stores.client_context(self.listener)

    def open(self, host: str, port: int, client_id: str, limits: ChannelLimits) -> Channel:
        """A channel to the listener of one broker, which has that address."""
        return Channel(host, port, client_id, limits=limits, login=self._login, tls=self._tls)
