"""Settings as nodes of ZooKeeper: what `kafka-configs.sh --zookeeper` does."""

from collections.abc import Mapping, Sequence

from moldau.cli.config_entities.entity import Entity
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.znodes.session import zookeeper_session
from moldau.coordination.layout.configs import (
    CHANGE_PREFIX,
    ConfigEntity,
    decode_config,
    encode_change,
    encode_config,
)
from moldau.coordination.layout.topics import topic_path
from moldau.coordination.tree import Create, NoNode, Tree

_LABELS = {
    "topics": "topic",
    "brokers": "brokers",
    "users": "user-principal",
    "clients": "client-id",
}


async def describe_with_zookeeper(servers: str, entities: Sequence[Entity]) -> None:
    """Print the settings of a node."""
    async with zookeeper_session(servers) as tree:
        print(await ZooKeeperConfigs(tree).described(entities))


async def alter_with_zookeeper(
    servers: str, entities: Sequence[Entity], added: Mapping[str, str], removed: Sequence[str]
) -> None:
    """Change the settings of a node, and tell the brokers."""
    async with zookeeper_session(servers) as tree:
        await ZooKeeperConfigs(tree).alter(entities, added, removed)
        print(f"Completed Updating config for entity: {label(entities)}.")


class ZooKeeperConfigs:
    """Reads and writes the nodes of settings; brokers watch for changes."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    async def described(self, entities: Sequence[Entity]) -> str:
        """The settings of one, in the layout that Kafka had before 2.5."""
        found = await self._read(_node(entities))
        listed = ",".join(f"{name}={value}" for name, value in found.items())
        return f"Configs for {label(entities)} are {listed}"

    async def alter(
        self, entities: Sequence[Entity], added: Mapping[str, str], removed: Sequence[str]
    ) -> None:
        """Set some settings and take back others."""
        first = entities[0]
        if first.kind == "topics" and not await self._tree.exists(topic_path(first.name or "")):
            raise CommandFailed(f"Topic '{first.name}' does not exist.")
        entity = _node(entities)
        found = await self._read(entity)
        unknown = [name for name in removed if name not in found]
        if unknown:
            raise CommandFailed(f"Invalid config(s): {','.join(unknown)}")
        kept = {name: value for name, value in found.items() if name not in removed}
        await self._write(entity.path, encode_config({**kept, **added}))
        await self._tree.create(Create(CHANGE_PREFIX, encode_change(entity), is_sequential=True))

    async def _read(self, entity: ConfigEntity) -> dict[str, str]:
        try:
            return decode_config((await self._tree.get(entity.path)).data)
        except NoNode:
            return {}

    async def _write(self, path: str, data: bytes) -> None:
        if await self._tree.exists(path):
            await self._tree.set(path, data)
            return
        parts = path.split("/")
        for end in range(2, len(parts)):
            above = "/".join(parts[:end])
            if not await self._tree.exists(above):
                await self._tree.create(Create(above))
        await self._tree.create(Create(path, data))


def label(entities: Sequence[Entity]) -> str:
    """Whose settings they are, in the words of Kafka before 2.5."""
    return ", ".join(
        f"default {_LABELS[each.kind]}" if not each.name else f"{_LABELS[each.kind]} '{each.name}'"
        for each in entities
    )


def _node(entities: Sequence[Entity]) -> ConfigEntity:
    first = entities[0]
    if first.name is None or first.kind not in _LABELS:
        raise CommandFailed("with --zookeeper one topic, broker, user or client must be named")
    if len(entities) > 1:
        return ConfigEntity.user_client(first.name or None, entities[1].name or None)
    return ConfigEntity(first.kind, first.name or None)
