"""Settings as nodes of ZooKeeper: what `kafka-configs.sh --zookeeper` does."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager

from moldau.cli.config_entities.entity import Entity
from moldau.cli.config_entities.passwords import PREFIX, parse_password
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.options import Given
from moldau.cli.znodes.nodes import create_with_parents
from moldau.cli.znodes.session import zookeeper_session
from moldau.coordination.layout import brokers as broker_nodes
from moldau.coordination.layout.configs import (
    CHANGE_PREFIX,
    CHANGES_PATH,
    ConfigEntity,
    decode_config,
    encode_change,
    encode_config,
    parse_entity_path,
)
from moldau.coordination.layout.topics import topic_path
from moldau.coordination.tree import Create, NoNode, Tree
from moldau.runtime.random import Random, SystemRandom
from moldau.security.scram import ScramSecret, salt_of

_LABELS = {
    "topics": "topic",
    "brokers": "brokers",
    "users": "user-principal",
    "clients": "client-id",
}


async def describe_with_zookeeper(given: Given, entities: Sequence[Entity]) -> None:
    """Print the settings of a node, or of all nodes of a type."""
    async with _session(given) as tree:
        for line in await ZooKeeperConfigs(tree).described(entities):
            print(line)


async def alter_with_zookeeper(
    given: Given, entities: Sequence[Entity], added: Mapping[str, str], removed: Sequence[str]
) -> None:
    """Change the settings of a node, and notify the brokers."""
    async with _session(given) as tree:
        await ZooKeeperConfigs(tree).alter(entities, added, removed)
        print(f"Completed Updating config for entity: {label(_node(entities))}.")


def _session(given: Given) -> AbstractAsyncContextManager[Tree]:
    return zookeeper_session(given.text("zookeeper"), given.text("zk-tls-config-file"))


class ZooKeeperConfigs:
    """Reads and writes the nodes of settings; brokers watch for changes."""

    def __init__(self, tree: Tree, random: Random | None = None) -> None:
        self._tree = tree
        self._random = random or SystemRandom()

    async def described(self, entities: Sequence[Entity]) -> list[str]:
        """The settings of one, or of all of a type, in the layout that Kafka had before 2.5."""
        is_all_users = entities[0].kind == "users" and entities[0].name is None
        lines = []
        for entity in await self._meant(entities):
            found = await self.read(entity)
            # A user that is there only for its clients is not worth a line.
            if found or not is_all_users:
                listed = ",".join(f"{name}={value}" for name, value in found.items())
                lines.append(f"Configs for {label(entity)} are {listed}")
        return lines

    async def alter(
        self, entities: Sequence[Entity], added: Mapping[str, str], removed: Sequence[str]
    ) -> None:
        """Set some settings and take back others."""
        entity = _node(entities)
        await self._check(entity, added)
        found = await self.read(entity)
        unknown = [name for name in removed if name not in found]
        if unknown:
            raise CommandFailed(f"Invalid config(s): {','.join(unknown)}")
        secret = {
            name: self._secret(name, value) if name.startswith(PREFIX) else value
            for name, value in added.items()
        }
        await self.change(entity, secret, removed)

    async def read(self, entity: ConfigEntity) -> dict[str, str]:
        """The settings of a node; none if it is not there."""
        try:
            return decode_config((await self._tree.get(entity.path)).data)
        except NoNode:
            return {}

    async def change(
        self, entity: ConfigEntity, added: Mapping[str, str], removed: Sequence[str] = ()
    ) -> bool:
        """Write settings that differ, and notify the brokers; False if none do."""
        before = await self.read(entity)
        kept = {name: value for name, value in before.items() if name not in removed}
        after = {**kept, **added}
        if after == before:
            return False
        if await self._tree.exists(entity.path):
            await self._tree.set(entity.path, encode_config(after))
        else:
            await create_with_parents(self._tree, entity.path, encode_config(after))
        # Before the first broker starts there is nothing yet, and users must be there already.
        await create_with_parents(self._tree, CHANGES_PATH)
        await self._tree.create(Create(CHANGE_PREFIX, encode_change(entity), is_sequential=True))
        return True

    async def _check(self, entity: ConfigEntity, added: Mapping[str, str]) -> None:
        if entity.type == "topics" and not await self._tree.exists(topic_path(entity.name or "")):
            raise CommandFailed(f'Topic "{entity.name}" does not exist.')
        is_broker = entity.type == "brokers" and entity.name is not None
        if is_broker and await self._tree.exists(f"{broker_nodes.IDS_PATH}/{entity.name}"):
            raise CommandFailed(
                "--bootstrap-server option must be specified to update broker configs "
                f"Set({', '.join(added)}). when broker {entity.name} is running."
            )

    async def _meant(self, entities: Sequence[Entity]) -> list[ConfigEntity]:
        first, *rest = entities
        if first.kind not in _LABELS:
            raise CommandFailed(f"with --zookeeper there are no settings of {first.kind}")
        paths = await self._paths("", first)
        for each in rest:
            paths = [below for path in paths for below in await self._paths(f"{path}/", each)]
        return [parse_entity_path(path) for path in paths]

    async def _paths(self, above: str, entity: Entity) -> list[str]:
        """Paths below `/config` of one entity, or of all of its type."""
        if entity.name is not None:
            own = ConfigEntity(entity.kind, entity.name or None).entity_path
            return [above + own]
        names = await self._children(f"/config/{above}{entity.kind}")
        return [f"{above}{entity.kind}/{name}" for name in sorted(names)]

    async def _children(self, path: str) -> list[str]:
        try:
            return await self._tree.children(path)
        except NoNode:
            return []

    def _secret(self, mechanism: str, text: str) -> str:
        """A password as brokers keep it: a reader of it cannot log in with it."""
        given = parse_password("", mechanism, text)
        salt = salt_of(int.from_bytes(self._random.uuid() + self._random.uuid()))
        secret = ScramSecret.of_password(
            mechanism, given.password, salt=salt, iterations=given.iterations
        )
        return secret.to_text()


def label(entity: ConfigEntity) -> str:
    """Whose settings they are, in the words of Kafka before 2.5."""
    parts = [(entity.type, entity.name)]
    if entity.has_client:
        parts.append(("clients", entity.client))
    return ", ".join(
        f"default {_LABELS[kind]}" if name is None else f"{_LABELS[kind]} '{name}'"
        for kind, name in parts
    )


def _node(entities: Sequence[Entity]) -> ConfigEntity:
    first = entities[0]
    if first.name is None or first.kind not in _LABELS:
        raise CommandFailed("with --zookeeper one topic, broker, user or client must be named")
    if len(entities) > 1:
        return ConfigEntity.user_client(first.name or None, entities[1].name or None)
    return ConfigEntity(first.kind, first.name or None)
