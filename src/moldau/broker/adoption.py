"""Logs that the tree knows nothing of: a log directory that was another broker's.

A directory written by Apache Kafka has its topics in ZooKeeper, not in itself. With an
empty embedded store the topics are found again in the names of the directories and, for
their ids, in `partition.metadata`. Their settings are found nowhere. So they are set to keep
everything until somebody says what they were.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from moldau.broker.auto_creation import internal_overrides
from moldau.broker.logs import Logs
from moldau.config.broker.startup import Startup
from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.layout.configs import ConfigEntity, encode_config
from moldau.coordination.layout.topics import PartitionAssignment, PartitionState, TopicAssignment
from moldau.coordination.tree import Create, Tree
from moldau.log.log import Log
from moldau.log.traces import Trace, find_traces
from moldau.model import format_uuid

_log = logging.getLogger(__name__)

KEPT = {"cleanup.policy": "delete", "retention.bytes": "-1", "retention.ms": "-1"}
"""Settings of a topic by which nothing of it goes: ordinary ones, which anybody may change.

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
    overrides_of = partial(_overrides, startup)
    adopted = await adopt_topics(
        tree, logs, broker_id=broker_id, new_uuid=new_uuid, overrides_of=overrides_of
    )
    for name in adopted:
        # Before anything is cleaned or expired by the wrong settings.
        await logs.configs.refresh(name)
        logs.reconfigure(name)
    if adopted:
        _log.info("adopted %d topics found in the log directories", len(adopted))
        _warn(logs, [name for name in adopted if logs.configs.overrides_of(name) == KEPT])
    else:
        _remind([name for name in logs.configs if logs.configs.overrides_of(name) == KEPT])


def warn_of_strays(logs: Logs) -> None:
    """Name the logs of topics that the tree, which has others, does not know."""
    strays = [str(log.partition) for log in logs if log.partition.topic not in logs.configs]
    if strays:
        _log.warning(
            "%d logs are of topics that the cluster does not know, so nothing is deleted from "
            "them: %s; move their directories away if nobody needs them",
            len(strays),
            some(strays),
        )


async def adopt_topics(
    tree: Tree,
    logs: Iterable[Log],
    *,
    broker_id: int,
    new_uuid: NewUuid,
    overrides_of: OverridesOf,
) -> list[str]:
    """Create the topics of these logs in a tree without any; returns their names."""
    if await tree.children(topic_nodes.PATH):
        return []
    topics: dict[str, dict[int, Log]] = {}
    for log in logs:
        topics.setdefault(log.partition.topic, {})[log.partition.partition] = log
    for name, partitions in topics.items():
        ids = [log.topic_id for log in partitions.values() if log.topic_id is not None]
        alone = PartitionAssignment(replicas=(broker_id,))
        assignment = TopicAssignment(
            partitions=dict.fromkeys(range(max(partitions) + 1), alone),
            topic_id=format_uuid(ids[0] if ids else new_uuid()),
        )
        await tree.multi(
            [
                Create(ConfigEntity.topic(name).path, encode_config(overrides_of(name))),
                Create(topic_nodes.topic_path(name), assignment.encode()),
                Create(topic_nodes.partitions_path(name)),
                *(node for log in partitions.values() for node in _state_nodes(log, broker_id)),
            ]
        )
    return list(topics)


def some(names: list[str]) -> str:
    """A list of names that does not get too long for a line."""
    more = len(names) - _NAMED_MAX
    return ", ".join(names[:_NAMED_MAX]) + (f" and {more} more" if more > 0 else "")


def _overrides(startup: Startup, topic: str) -> Mapping[str, str]:
    """Internal topics have to be compacted, and what they hold is known: the newest counts."""
    return internal_overrides(topic, startup.config) or KEPT


def _warn(logs: Logs, names: list[str]) -> None:
    if not names:
        return
    _log.warning(
        "the settings of %d topics are not known: nothing is deleted from them or compacted "
        "until you set them: %s; " + _SET + " sets some",
        len(names),
        some(names),
        names[0],
        "retention.ms=604800000",
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
    """Who leads: this broker, in the epoch after the last one that the log knows.

    A new partition would begin with epoch 0, and followers and clients would take records
    of it for older than those which are there.
    """
    latest = log.epochs.latest
    state = PartitionState(
        leader=broker_id,
        leader_epoch=0 if latest is None else latest.epoch + 1,
        isr=(broker_id,),
        controller_epoch=0,
    )
    yield Create(topic_nodes.partition_path(log.partition))
    yield Create(topic_nodes.state_path(log.partition), state.encode())
