"""The settings that topics have in a ZooKeeper which is left for good."""

from collections.abc import Mapping

from moldau.cli.znodes.session import REFUSALS, open_session, refusal
from moldau.config.broker.startup import Startup
from moldau.config.effective import BrokerLayers
from moldau.config.synonyms import TOPIC_SYNONYMS
from moldau.config.topic import topic_settings
from moldau.config.topic_listing import ListedTopic
from moldau.config.values import config_error, to_text
from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.layout.configs import ConfigEntity, decode_config
from moldau.coordination.layout.documents import NodeDataError
from moldau.coordination.tree import NoNode, Tree


async def read_topics(connect: str, startup: Startup) -> dict[str, ListedTopic]:
    """All topics at `host:port,host:port/chroot`; InvalidConfig if there are none."""
    servers, slash, chroot = connect.partition("/")
    try:
        tree = await open_session(servers, startup.texts)
        try:
            broker_id = startup.config.general.broker_id
            return await topics_in(tree, f"{slash}{chroot}".rstrip("/"), broker_id)
        finally:
            await tree.close()
    except REFUSALS as error:
        raise config_error(refusal(error)) from error


async def topics_in(tree: Tree, chroot: str, broker_id: int) -> dict[str, ListedTopic]:
    """All topics below a path, with what they inherit from the dynamic settings of brokers.

    Nothing is written, so the path is not the session's own: that would be made if need be.
    """
    try:
        names = await tree.children(f"{chroot}{topic_nodes.PATH}")
    except NoNode as error:
        raise config_error(f"there is no node {error.path}: is the path behind / right?") from error
    if not names:
        raise config_error(f"{chroot}{topic_nodes.PATH} has no topics")
    inherited = _inherited(
        await _read(tree, chroot, ConfigEntity.broker(None)),
        await _read(tree, chroot, ConfigEntity.broker(broker_id)),
    )
    return {
        name: ListedTopic(await _read(tree, chroot, ConfigEntity.topic(name)), dict(inherited))
        for name in names
    }


def _inherited(cluster: Mapping[str, str], broker: Mapping[str, str]) -> dict[str, str]:
    """The settings of topics that dynamic settings of brokers stand for."""
    defaults = BrokerLayers({}, cluster, broker).topic_defaults
    set_by_somebody = {*cluster, *broker}
    return {
        name: to_text(getattr(defaults, topic_settings()[name].attribute)) or ""
        for name, synonyms in TOPIC_SYNONYMS.items()
        if any(synonym.name in set_by_somebody for synonym in synonyms)
    }


async def _read(tree: Tree, chroot: str, entity: ConfigEntity) -> dict[str, str]:
    path = chroot + entity.path
    try:
        return decode_config((await tree.get(path)).data)
    except NoNode:
        return {}
    except NodeDataError as error:
        raise config_error(f"failed to parse {path}: {error}") from error
