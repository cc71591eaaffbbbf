"""Logs that the tree knows nothing of: a log directory that was another broker's.

A directory written by Apache Kafka has its topics in ZooKeeper, not in itself. With an
empty embedded store the topics are found again in the names of the directories and, for
their ids, in `partition.metadata`. Their settings are found nowhere. So they are set to keep
everything until the operator says what they were: at the start, by a list of topics, or later as
those of any other topic. A list at a later start is for those that are not set yet.
"""

import logging
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial

from moldau.broker.storage.logs import Logs
from moldau.broker.topics.auto_creation import internal_overrides
from moldau.config.broker.startup import Startup
from moldau.config.topic import TopicConfig
from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.layout.configs import ConfigEntity, encode_config
from moldau.coordination.layout.topics import (
    PartitionAssignment,
    PartitionStateNode,
    TopicAssignment,
)
from moldau.coordination.tree import Create, Tree
from moldau.errors import ErrorCode, KafkaError
from moldau.log.log import Log
from moldau.log.traces import Trace, find_traces
from moldau.model import format_uuid

_log = logging.getLogger(__name__)

KEPT = {"cleanup.policy": "delete", "retention.bytes": "-1", "retention.ms": "-1"}
"""Settings of a topic by which nothing of it goes: ordinary ones, which any client may change.

The policy is said as well, for the broker's own may be to compact.
"""
_NAMED_MAX = 10
_SET = (
    "kafka-configs.sh --bootstrap-server localhost:9092 --alter --entity-type topics "
    "--entity-name %s --add-config %s"
)

NewUuid = Callable[[], bytes]
OverridesOf = Callable[[str], Mapping[str, str]]


async def adopt(
    startup: Startup, tree: Tree, logs: Logs, *, broker_id: int, new_uuid: NewUuid
) -> None:
    """Take the topics of these logs into a tree without any, and say what is not known."""
    overrides_of = partial(_overrides, startup, logs.configs.defaults)
    adopted = await adopt_topics(
        tree, logs, broker_id=broker_id, new_uuid=new_uuid, overrides_of=overrides_of
    )
    listed = startup.listed_topics
    kept = [name for name in logs.configs if logs.configs.overrides_of(name) == KEPT]
    changed = [name for name in kept if name in listed]
    for name in changed:
        await tree.set(ConfigEntity.topic(name).path, encode_config(overrides_of(name)))
    for name in (*adopted, *changed):
        await logs.configs.refresh(name)
    # Before anything is cleaned or expired by the wrong settings.
    logs.reconfigure_all()
    if adopted:
        _log.info("adopted %d topics found in the log directories", len(adopted))
        unknown = [name for name in adopted if logs.configs.overrides_of(name) == KEPT]
        _warn(logs, sorted(name for name in unknown if name not in listed))
    else:
        _remind([name for name in kept if name not in listed])
    if listed:
        _report_listed(logs, listed, {*adopted, *changed})


def warn_of_strays(logs: Logs) -> None:
    """Name the logs of topics that the tree, which has others, does not know."""
    strays = [str(log.partition) for log in logs if log.partition.topic not in logs.configs]
    if strays:
        _log.warning(
            "%d logs belong to topics that do not exist in the cluster, so nothing is deleted from "
            "them: %s; move their directories away if they are not needed",
            len(strays),
            some(strays),
        )


async def adopt_topics(
    tree: Tree, logs: Logs, *, broker_id: int, new_uuid: NewUuid, overrides_of: OverridesOf
) -> list[str]:
    """Create the topics of these logs in a tree without any; returns their names."""
    if await tree.children(topic_nodes.PATH):
        return []
    topics: dict[str, dict[int, Log]] = {}
    for log in logs:
        topics.setdefault(log.partition.topic, {})[log.partition.partition] = log
    if not topics:
        return []
    _require_all_directories(logs)
    nodes: list[Create] = []
    for name, partitions in topics.items():
        ids = [log.topic_id for log in partitions.values() if log.topic_id is not None]
        alone = PartitionAssignment(replicas=(broker_id,))
        assignment = TopicAssignment(
            partitions=dict.fromkeys(range(max(partitions) + 1), alone),
            topic_id=format_uuid(ids[0] if ids else new_uuid()),
        )
        nodes += [
            Create(ConfigEntity.topic(name).path, encode_config(overrides_of(name))),
            Create(topic_nodes.topic_path(name), assignment.encode()),
            Create(topic_nodes.partitions_path(name)),
            *(node for log in partitions.values() for node in _state_nodes(log, broker_id)),
        ]
    # At once: a start that finds some topics in the tree does not look for others.
    await tree.multi(nodes)
    return list(topics)


def _require_all_directories(logs: Logs) -> None:
    """Raise if a directory may hold more partitions: they would be made anew, without a record."""
    for directory in logs.directories:
        if not directory.volume.is_online:
            message = (
                f"{directory.volume.path} cannot be used, but topics are found by all of their "
                "logs: mend it, or take it out of log.dirs"
            )
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, message)


def some(names: list[str]) -> str:
    """A list of names that does not get too long for a line."""
    more = len(names) - _NAMED_MAX
    return ", ".join(names[:_NAMED_MAX]) + (f" and {more} more" if more > 0 else "")


def _overrides(startup: Startup, defaults: TopicConfig, topic: str) -> Mapping[str, str]:
    """Internal topics have to be compacted, and what they hold is known: the newest counts."""
    required = internal_overrides(topic, startup.config)
    if topic in startup.listed_topics:
        return {**required, **startup.listed_topics[topic].overrides(defaults)}
    return required or KEPT


def _report_listed(logs: Logs, listed: Collection[str], changed: Collection[str]) -> None:
    unused = [name for name in listed if name not in changed]
    missing = [name for name in unused if name not in logs.configs]
    others = [name for name in unused if name in logs.configs]
    _log.info("%d topics have the settings that are listed", len(listed) - len(unused))
    if missing:
        _log.warning("%d listed topics have no log here: %s", len(missing), some(missing))
    if others:
        _log.info("%d listed topics had settings already: %s", len(others), some(others))


def _warn(logs: Logs, names: list[str]) -> None:
    if not names:
        return
    _log.warning(
        "the settings of %d topics are not known: nothing is deleted from them or compacted "
        "until you set them: %s; start with --topic-configs FILE (see docs/log-directories.md), "
        "or use " + _SET,
        len(names),
        some(names),
        names[0],
        "retention.ms=...",
    )
    traces: dict[str, Trace] = {}
    for directory in logs.directories:
        for name, found in find_traces(directory).items():
            traces[name] = traces.get(name, Trace.NONE) | found
    for trace, look, setting in (
        (Trace.COMPACTED, "compacted", "cleanup.policy=compact"),
        (Trace.LOG_APPEND_TIME, "stamped by their broker", "message.timestamp.type=LogAppendTime"),
    ):
        shown = [name for name in names if trace in traces[name]]
        if shown:
            _log.warning(
                "%d of them look %s: %s; " + _SET, len(shown), look, some(shown), shown[0], setting
            )


def _remind(names: list[str]) -> None:
    if names:
        _log.info(
            "%d topics still keep everything, as they were adopted: %s", len(names), some(names)
        )


def _state_nodes(log: Log, broker_id: int) -> Iterator[Create]:
    """The leader: this broker, in the epoch after the last one that the log knows.

    A new partition would begin with epoch 0, and followers and clients would take records
    of it for older than those which are there.
    """
    latest = log.epochs.latest
    state = PartitionStateNode(
        leader=broker_id,
        leader_epoch=0 if latest is None else latest.epoch + 1,
        isr=(broker_id,),
        controller_epoch=0,
    )
    yield Create(topic_nodes.partition_path(log.partition))
    yield Create(topic_nodes.state_path(log.partition), state.encode())
