"""The brokers of a cluster: a connection to each, and metadata kept fresh."""

import asyncio
import logging
from collections.abc import Collection, Iterable
from typing import TypeVar

from moldau.client.connection.addresses import Address, parse_addresses
from moldau.client.connection.idle_connections import IdleConnections
from moldau.client.connection.metadata import ClusterMetadata
from moldau.client.connection.opening import OpenBroker, Opener
from moldau.client.connection.reconnecting import Reconnecting
from moldau.client.connection.refusal import NameUnknown
from moldau.client.connection.topic_inquiry import METADATA, TopicInquiry
from moldau.client.metrics import ConnectionTraffic
from moldau.client.settings import ClientSettings
from moldau.config.values import config_error
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.declaration import facts_of
from moldau.protocol.messages.metadata import MetadataResponse
from moldau.runtime.clock import Clock, SystemClock
from moldau.runtime.random import SystemRandom

Response = TypeVar("Response")

_log = logging.getLogger(__name__)

_CREATION_MS = 1000
"""So long a topic may take to be known to all brokers that was created a moment ago."""


class Cluster:
    """Asks brokers by their number; connects when first asked, and again after a failure.

    Requests that a broker may hold back, as Fetch and JoinGroup, have a connection of their
    own, named by `channel`: on one connection they would hold back whatever comes after.
    """

    def __init__(
        self,
        settings: ClientSettings,
        *,
        creates_topics: bool = True,
        clock: Clock | None = None,
    ) -> None:
        self.settings = settings
        self.clock = clock or SystemClock()
        self.metadata = ClusterMetadata(age_max_ms=settings.metadata_max_age_ms)
        self._creates_topics = creates_topics
        self._opener = Opener(settings, self.clock)
        self._traffic, self._traffic_apart = ConnectionTraffic(), ConnectionTraffic()
        self._bootstrap = parse_addresses(settings.bootstrap_servers)
        self._open: dict[tuple[Address, str], OpenBroker] = {}
        self._reconnecting = Reconnecting(settings, SystemRandom())
        self._idle = IdleConnections(self._open, settings.connections_max_idle_ms)
        self._opening: dict[tuple[Address, str], asyncio.Lock] = {}
        self._refreshing = asyncio.Lock()
        self._topics: dict[str, None] = {}
        self._has_connected = False
        self._is_closed = False

    @property
    def traffic(self) -> ConnectionTraffic:
        """What went over all connections."""
        return self._traffic + self._traffic_apart

    @property
    def timeout_s(self) -> float:
        """How long a broker may take to answer."""
        return self.settings.request_timeout_ms / 1000

    @property
    def api_timeout_s(self) -> float:
        """How long may be taken for what needs several requests, and tries."""
        own_ms: int | None = getattr(self.settings, "default_api_timeout_ms", None)
        return self.timeout_s if own_ms is None else own_ms / 1000

    async def ask(
        self,
        node_id: int,
        request: object,
        response: type[Response],
        *,
        channel: str = "",
        timeout_s: float | None = None,
    ) -> Response:
        """Ask one broker, in the newest version that it speaks."""
        broker = await self.broker(node_id, channel)
        version = broker.versions.newest(_key(request))
        wait_s = self.timeout_s if timeout_s is None else timeout_s
        return await broker.connection.ask(request, response, version, timeout_s=wait_s)

    async def ask_any(self, request: object, response: type[Response]) -> Response:
        """Ask whichever broker answers."""
        broker = await self.any_broker()
        version = broker.versions.newest(_key(request))
        return await broker.connection.ask(request, response, version, timeout_s=self.timeout_s)

    async def broker(self, node_id: int, channel: str = "") -> OpenBroker:
        """The connection to a broker, opened if need be."""
        return await self._broker_at(self._address_of(node_id), channel)

    def _address_of(self, node_id: int) -> Address:
        address = self.metadata.brokers.get(node_id)
        if address is None:
            reason = f"broker {node_id} is not in the cluster any more"
            raise KafkaError(ErrorCode.NETWORK_EXCEPTION, reason)
        return address

    async def open_apart(self, node_id: int) -> OpenBroker:
        """A connection that is the caller's alone; this cluster does not close it."""
        self._refuse_if_closed()
        return await self._opener.open(self._address_of(node_id), self._traffic_apart)

    def connected(self, node_id: int) -> OpenBroker | None:
        """The connection to a broker, if a request can go over it at once."""
        address = self.metadata.brokers.get(node_id)
        broker = None if address is None else self._open.get((address, ""))
        if broker is None or not broker.connection.can_post or self._opener.is_due(broker):
            return None
        return broker

    async def wait_for_topic(self, topic: str, *, timeout_s: float) -> None:
        """Return once the partitions of a topic are known; the topic is watched from then on."""
        await self._wait_for_topic(topic, timeout_s, absent_max_ms=None)

    async def require_topic(self, topic: str, *, timeout_s: float) -> None:
        """As `wait_for_topic`, but a client that creates no topics does not wait for others to."""
        absent_max_ms = None if self._creates_topics else _CREATION_MS
        await self._wait_for_topic(topic, timeout_s, absent_max_ms)

    async def _wait_for_topic(
        self, topic: str, timeout_s: float, absent_max_ms: int | None
    ) -> None:
        self._topics[topic] = None
        began_ms = self.clock.monotonic_ms()
        failure: KafkaError | None = None
        try:
            async with asyncio.timeout(timeout_s):
                while not self.metadata.partitions_of(topic):
                    failure = await self._look_for(topic)
                    waited_ms = self.clock.monotonic_ms() - began_ms
                    if failure is None and absent_max_ms is not None and waited_ms >= absent_max_ms:
                        break
        except TimeoutError:
            reason = f"topic {topic} was not found in {timeout_s:g} s"
            if failure is not None:
                raise KafkaError(failure.code, f"{reason}: {failure}") from failure
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, reason) from None
        if not self.metadata.partitions_of(topic):
            reason = f"there is no topic {topic}: create it first, or correct the name"
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, reason)

    async def missing(self, topics: Collection[str]) -> list[str]:
        """Those of these topics that are not found; all are watched from then on."""
        is_new = any(topic not in self._topics for topic in topics)
        patience_ms = _CREATION_MS if is_new and self._creates_topics else 0
        began_ms = self.clock.monotonic_ms()
        self._topics.update(dict.fromkeys(topics))
        if self._unknown(topics):
            await self.refresh()
        while unknown := self._unknown(topics):
            for topic in unknown:
                self._refuse_if_never(topic)
            if self.clock.monotonic_ms() - began_ms >= patience_ms:
                break
            await self.back_off()
            await self.refresh()
        return unknown

    def _unknown(self, topics: Iterable[str]) -> list[str]:
        return [topic for topic in topics if not self.metadata.partitions_of(topic)]

    async def refresh(self, topics: Iterable[str] = ()) -> None:
        """Ask for metadata now, of these topics and of all that were asked for before."""
        self._topics.update(dict.fromkeys(topics))
        async with self._refreshing:
            broker = await self.any_broker()
            version = broker.versions.newest(METADATA)
            inquiry = TopicInquiry(tuple(self._topics), self._creates_topics)
            answer = await broker.connection.ask(
                inquiry.request(version), MetadataResponse, version, timeout_s=self.timeout_s
            )
            answer = inquiry.narrow(answer, version)
            self.metadata.update(answer, now_ms=self.clock.monotonic_ms())

    async def connect(self, topics: Iterable[str] = ()) -> None:
        """As `refresh`, but wait for brokers that are not up yet, as long as settings say.

        What no waiting helps with, such as a wrong name or password, is raised at once. There is
        one line in the log, not one for every try.
        """
        loop = asyncio.get_running_loop()
        timeout_s = self.settings.start_timeout_ms / 1000
        deadline_s = loop.time() + timeout_s
        failure: KafkaError | None = None
        while True:
            try:
                # The first try has all its time, even if there is none for others.
                async with asyncio.timeout_at(None if failure is None else deadline_s):
                    await self.refresh(topics)
                    self._refuse_if_nobody()
            except (KafkaError, TimeoutError) as error:
                if isinstance(error, KafkaError):
                    if not error.is_retriable:
                        raise
                    if failure is None:
                        _log.warning("%s; trying again for up to %g s", error, timeout_s)
                    failure = error
                assert failure is not None, "only later tries have a deadline"
                if loop.time() >= deadline_s:
                    reason = f"{failure}, for {timeout_s:g} s"
                    raise KafkaError(failure.code, reason) from failure
            else:
                if failure is not None:
                    _log.info("connected to %s", self.settings.bootstrap_servers)
                return
            await self.back_off()

    async def refresh_if_stale(self) -> None:
        """Ask for metadata if it is old or in doubt."""
        if self.metadata.is_stale(self._topics, now_ms=self.clock.monotonic_ms()):
            await self.refresh()

    def forget_topic(self, topic: str) -> None:
        """Do not ask for this topic any more."""
        self._topics.pop(topic, None)
        self.metadata.topics.pop(topic, None)

    async def back_off(self) -> None:
        """Wait before the same is tried again."""
        await asyncio.sleep(self.settings.retry_backoff_ms / 1000)

    def close(self) -> None:
        """Hang up on all brokers."""
        self._is_closed = True
        self._idle.stop()
        for broker in self._open.values():
            broker.connection.close()
        self._open.clear()

    async def _look_for(self, topic: str) -> KafkaError | None:
        """Ask once; returns why there was no answer, if there was none."""
        failure = None
        try:
            await self.refresh([topic])
        except KafkaError as error:
            if not error.is_retriable:
                raise
            failure = error
        self._refuse_if_never(topic)
        if not self.metadata.partitions_of(topic):
            await self.back_off()
        return failure

    def _refuse_if_never(self, topic: str) -> None:
        """Raise why a topic will not be found however long one waits."""
        known = self.metadata.topics.get(topic)
        if known is not None and known.error_code and not known.error_code.is_retriable:
            raise KafkaError(known.error_code, f"topic {topic}: {known.error_code.name}")

    async def any_broker(self) -> OpenBroker:
        """An open connection if there is one, else the first address that answers."""
        for (address, channel), broker in self._open.items():
            if broker.connection.is_open:
                return await self._broker_at(address, channel)
        tried: list[KafkaError] = []
        addresses = list(dict.fromkeys((*self.metadata.brokers.values(), *self._bootstrap)))
        addresses.sort(key=self._reconnecting.not_before_ms)
        deadline_s = asyncio.get_running_loop().time() + self.timeout_s
        for address in addresses:
            # One that says nothing must leave time for those that come after it.
            left_s = deadline_s - asyncio.get_running_loop().time()
            part_s = left_s / (len(addresses) - len(tried))
            try:
                async with asyncio.timeout(part_s):
                    return await self._broker_at(address, "")
            except TimeoutError:
                known = self._reconnecting.last_error(address)
                silence = f"{address}: no answer in {part_s:.3g} s"
                tried.append(known or KafkaError(ErrorCode.NETWORK_EXCEPTION, silence))
            except KafkaError as error:
                if not error.is_retriable:
                    raise
                tried.append(error)
        reasons = ", ".join(map(str, tried))
        if not self._has_connected and all(isinstance(each, NameUnknown) for each in tried):
            # A name that never was one is a mistake, not a broker that comes later (as in Java).
            raise config_error(f"no address in bootstrap.servers can be resolved: {reasons}")
        reason = f"no broker could be reached; tried {reasons}"
        raise KafkaError(ErrorCode.NETWORK_EXCEPTION, reason)

    async def _broker_at(self, address: Address, channel: str) -> OpenBroker:
        key = (address, channel)
        async with self._opening.setdefault(key, asyncio.Lock()):
            self._refuse_if_closed()
            known = self._open.get(key)
            if known is not None and known.connection.is_open:
                await self._opener.renew(known)
                return known
            opened = await self._open_in_time(address)
            self._open[key] = opened
            self._has_connected = True
            self._idle.watch()
            self._refuse_if_closed()
            return opened

    async def _open_in_time(self, address: Address) -> OpenBroker:
        """Open a connection, later if that has just failed."""
        wait_ms = self._reconnecting.not_before_ms(address) - self.clock.monotonic_ms()
        if wait_ms > 0:
            await asyncio.sleep(wait_ms / 1000)
        try:
            opened = await self._opener.open(address, self._traffic)
        except KafkaError as error:
            now_ms = self.clock.monotonic_ms()
            self._reconnecting.failed(address, error, now_ms=now_ms)
            raise
        self._reconnecting.succeeded(address)
        return opened

    def _refuse_if_nobody(self) -> None:
        """A broker that is just starting answers before it knows of any, itself included."""
        if not self.metadata.brokers:
            reason = f"{self.settings.bootstrap_servers} answers, but knows of no broker yet"
            raise KafkaError(ErrorCode.NETWORK_EXCEPTION, reason)

    def _refuse_if_closed(self) -> None:
        if self._is_closed:
            self.close()  # what was opened meanwhile
            raise KafkaError(ErrorCode.NETWORK_EXCEPTION, "the client is closed")


def _key(request: object) -> int:
    api_key = facts_of(type(request)).api_key
    assert api_key is not None, "only requests are sent"
    return api_key
