"""Dynamic settings of topics and brokers: written to the tree, applied when they change there.

Every write leaves a notification under `/config/changes`, which all brokers watch; the
broker that writes applies the change at once and meets its own notification later.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence

from moldau.broker.settings.stored_secrets import StoredSecrets
from moldau.broker.settings.topic_configs import TopicConfigs
from moldau.config.alteration import check_broker_overrides
from moldau.config.broker.advice import ignored_changes
from moldau.config.effective import BrokerLayers, EffectiveSetting, describe_topic
from moldau.coordination.layout import configs as config_nodes
from moldau.coordination.layout.configs import ConfigEntity
from moldau.coordination.layout.documents import NodeDataError
from moldau.coordination.notifications import Notifications
from moldau.coordination.tree import (
    BadVersion,
    Create,
    Delete,
    NodeExists,
    NoNode,
    NotEmpty,
    SessionError,
    SetData,
    Tree,
    WatchEvent,
)
from moldau.errors import KafkaError

_log = logging.getLogger(__name__)

_RETRY_S = 1.0
CLIENT_TYPES = ("users", "clients", "ips")

TopicListener = Callable[[str], None]
BrokerListener = Callable[[BrokerLayers], None]
QuotaListener = Callable[[ConfigEntity, Mapping[str, str]], None]
VerifyBroker = Callable[[BrokerLayers], Awaitable[None]]
Change = Callable[[dict[str, str]], Mapping[str, str]]
"""Makes new settings out of those that there are, or raises."""


_BROKERS = "brokers"


def _broker_of(entity: ConfigEntity) -> int | None:
    return None if entity.name is None else int(entity.name)


class Configs:
    """The settings that can change while the broker runs."""

    def __init__(
        self,
        tree: Tree,
        broker_id: int,
        static: Mapping[str, str],
        *,
        topics: TopicConfigs,
    ) -> None:
        """`static` is what the properties file and the command line say."""
        self.layers = BrokerLayers(static)
        self.secrets = StoredSecrets(self.layers.config.security)
        self.verify_broker: VerifyBroker | None = None
        """Looks at what the settings alone do not show, such as files."""
        self.topics = topics
        self._tree = tree
        self._broker_id = broker_id
        self._topic_listeners: list[TopicListener] = []
        self._broker_listeners: list[BrokerListener] = []
        self._quota_listeners: list[QuotaListener] = []
        self._is_understood = True
        self._notifications = Notifications(tree, config_nodes.CHANGES_PATH)
        self._is_news = asyncio.Event()
        self._unchanged: tuple[BrokerLayers, Sequence[EffectiveSetting]] | None = None

    def listen(self, topic_changed: TopicListener, broker_changed: BrokerListener) -> None:
        """Call the listeners for every change that takes effect from now on."""
        self._topic_listeners.append(topic_changed)
        self._broker_listeners.append(broker_changed)

    def listen_to_quotas(self, changed: QuotaListener) -> None:
        """Call `changed` whenever settings of a user, a client or an address change from now on."""
        self._quota_listeners.append(changed)

    async def load(self) -> None:
        """Read what is set for all brokers and for this one."""
        await self._refresh_broker()
        if self.secrets.is_renewal_due:
            await self.alter(ConfigEntity.broker(self._broker_id), dict)
        for sentence in ignored_changes(self.layers):
            _log.warning("%s", sentence)
        if not self._is_understood:
            _log.warning(
                "Failed to parse dynamic settings of the broker: nothing is deleted from topics "
                "without a cleanup.policy of their own until they are corrected"
            )
            self.topics.set_defaults(self.layers.topic_defaults.keeping_everything())

    async def run(self) -> None:
        """Follow the notifications, until cancelled."""
        while True:
            self._is_news.clear()
            try:
                await self._follow()
            except SessionError as error:
                _log.warning("Failed to read changed settings, retrying: %s", error)
                await asyncio.sleep(_RETRY_S)
            else:
                await self._is_news.wait()

    # Reading

    async def read(self, entity: ConfigEntity) -> dict[str, str]:
        """What the tree has for an entity now."""
        return (await self._read(entity))[0]

    async def _read(self, entity: ConfigEntity) -> tuple[dict[str, str], int | None]:
        """The settings and the version of their node, None without one."""
        data, version = await self._data(entity)
        try:
            settings = config_nodes.decode_config(data)
        except NodeDataError as error:
            _log.warning("Failed to parse settings of %s: %s", entity.entity_path, error)
            return {}, version
        if entity.type == _BROKERS:
            settings = await self.secrets.decoded(settings)
        return settings, version

    async def _data(self, entity: ConfigEntity) -> tuple[bytes, int | None]:
        try:
            node = await self._tree.get(entity.path)
        except NoNode:
            return b"", None
        return node.data, node.stat.version

    async def children(self, path: str) -> list[str]:
        """The names of the entities with settings below a path."""
        try:
            return await self._tree.children(path)
        except NoNode:
            return []

    def describe_topic(self, overrides: Mapping[str, str]) -> Sequence[EffectiveSetting]:
        """All settings of a topic with these of its own; most topics have none."""
        if overrides:
            return describe_topic(overrides, self.layers)
        if self._unchanged is None or self._unchanged[0] is not self.layers:
            self._unchanged = (self.layers, describe_topic({}, self.layers))
        return self._unchanged[1]

    # Writing

    async def alter(
        self, entity: ConfigEntity, change: Change, *, is_only_checked: bool = False
    ) -> None:
        """Replace an entity's settings by what `change` makes of them, or raises."""
        while True:
            current, version = await self._read(entity)
            changed = change(current)
            if entity.type == _BROKERS and self.verify_broker is not None:
                await self.verify_broker(self._layers(_broker_of(entity), changed))
            if is_only_checked:
                return
            try:
                await self._write(entity, changed, version)
            except (BadVersion, NodeExists):
                continue  # Another broker was quicker; its change must not be lost.
            break
        await self._apply(entity)

    def check_broker(self, broker_id: int | None, settings: Mapping[str, str]) -> None:
        """Raise if these cannot be the dynamic settings of this broker, or of all (None)."""
        changed = self._layers(broker_id, settings)
        check_broker_overrides(changed, is_for_one_broker=broker_id is not None)

    async def _write(
        self, entity: ConfigEntity, values: Mapping[str, str], version: int | None
    ) -> None:
        """Write settings, with the notification that they have changed."""
        if entity.type == _BROKERS:
            values = await self.secrets.encoded(values)
        data = config_nodes.encode_config(values)
        notification = Create(
            config_nodes.CHANGE_PREFIX, config_nodes.encode_change(entity), is_sequential=True
        )
        if not values and entity.type in CLIENT_TYPES:
            await self._remove(entity, data, version, notification)
        elif version is None:
            await self._create_parents(entity.path)
            await self._tree.multi([Create(entity.path, data), notification])
        else:
            await self._tree.multi([SetData(entity.path, data, version), notification])

    async def _remove(
        self, entity: ConfigEntity, data: bytes, version: int | None, notification: Create
    ) -> None:
        """Take away a node that has no setting left, with those above that are there for it."""
        if version is None:
            return
        try:
            await self._tree.multi([Delete(entity.path, version), notification])
        except NotEmpty:  # a user whose clients have settings
            await self._tree.multi([SetData(entity.path, data, version), notification])
            return
        if entity.has_client:
            user = ConfigEntity("users", entity.name)
            with contextlib.suppress(NoNode, NotEmpty, BadVersion):
                await self._tree.delete(f"{user.path}/clients")
                settings, version = await self._read(user)
                if not settings and version is not None:
                    await self._tree.delete(user.path, version=version)

    async def _create_parents(self, path: str) -> None:
        """`/config/users/U/clients` exists only once a client of that user has settings."""
        parts = path.split("/")
        for end in range(3, len(parts)):
            with contextlib.suppress(NodeExists):
                await self._tree.create(Create("/".join(parts[:end])))

    # Following

    async def _follow(self) -> None:
        changed: dict[ConfigEntity, None] = {}
        for data in await self._notifications.new(watch=self._note_news):
            try:
                changed[config_nodes.decode_change(data)] = None
            except NodeDataError as error:
                _log.warning("Failed to parse a notification of changed settings: %s", error)
        for entity in changed:
            await self._apply(entity)

    def _note_news(self, _event: WatchEvent) -> None:
        self._is_news.set()

    async def _apply(self, entity: ConfigEntity) -> None:
        if entity.type == "topics" and entity.name is not None:
            await self._refresh_topic(entity.name)
        elif entity.type == _BROKERS and entity.name in (None, str(self._broker_id)):
            await self._refresh_broker()
        elif entity.type in CLIENT_TYPES:
            settings = await self.read(entity)
            for listener in self._quota_listeners:
                listener(entity, settings)

    async def _refresh_topic(self, topic: str) -> None:
        await self.topics.refresh(topic)
        for listener in self._topic_listeners:
            listener(topic)

    async def _refresh_broker(self) -> None:
        entities = (ConfigEntity.broker(None), ConfigEntity.broker(self._broker_id))
        texts = [(await self._data(entity))[0] for entity in entities]
        try:
            cluster, broker = [
                await self.secrets.decoded(config_nodes.decode_config(text)) for text in texts
            ]
            is_old = (cluster, broker) == (self.layers.cluster, self.layers.broker)
            if is_old and self._is_understood:
                return
            changed = BrokerLayers(self.layers.static, cluster, broker)
            defaults = changed.topic_defaults
        except (KafkaError, NodeDataError) as error:
            # Written by another broker, or by hand: better what we have than no broker.
            _log.warning("Ignored dynamic settings of the broker: %s", error)
            self._is_understood = False
            return
        self._is_understood = True
        self.layers = changed
        self.topics.set_defaults(defaults)
        for listener in self._broker_listeners:
            listener(changed)

    def _layers(self, broker_id: int | None, settings: Mapping[str, str]) -> BrokerLayers:
        if broker_id is None:
            return BrokerLayers(self.layers.static, settings, self.layers.broker)
        return BrokerLayers(self.layers.static, self.layers.cluster, settings)
