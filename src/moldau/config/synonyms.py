"""Settings that stand for one another: a topic's and the broker's, milliseconds and hours."""

import re
from typing import NamedTuple


class Synonym(NamedTuple):
    """A broker setting that gives a topic setting its default."""

    name: str
    factor: int = 1
    """What its number is multiplied with."""


_MINUTE_MS = 60_000
_HOUR_MS = 3_600_000

TOPIC_SYNONYMS: dict[str, tuple[Synonym, ...]] = {
    "cleanup.policy": (Synonym("log.cleanup.policy"),),
    "compression.gzip.level": (Synonym("compression.gzip.level"),),
    "compression.lz4.level": (Synonym("compression.lz4.level"),),
    "compression.type": (Synonym("compression.type"),),
    "compression.zstd.level": (Synonym("compression.zstd.level"),),
    "delete.retention.ms": (Synonym("log.cleaner.delete.retention.ms"),),
    "file.delete.delay.ms": (Synonym("log.segment.delete.delay.ms"),),
    "flush.messages": (Synonym("log.flush.interval.messages"),),
    "flush.ms": (Synonym("log.flush.interval.ms"), Synonym("log.flush.scheduler.interval.ms")),
    "index.interval.bytes": (Synonym("log.index.interval.bytes"),),
    "local.retention.bytes": (Synonym("log.local.retention.bytes"),),
    "local.retention.ms": (Synonym("log.local.retention.ms"),),
    "max.compaction.lag.ms": (Synonym("log.cleaner.max.compaction.lag.ms"),),
    "max.message.bytes": (Synonym("message.max.bytes"),),
    "message.downconversion.enable": (Synonym("log.message.downconversion.enable"),),
    "message.format.version": (Synonym("log.message.format.version"),),
    "message.timestamp.after.max.ms": (Synonym("log.message.timestamp.after.max.ms"),),
    "message.timestamp.before.max.ms": (Synonym("log.message.timestamp.before.max.ms"),),
    "message.timestamp.difference.max.ms": (Synonym("log.message.timestamp.difference.max.ms"),),
    "message.timestamp.type": (Synonym("log.message.timestamp.type"),),
    "min.cleanable.dirty.ratio": (Synonym("log.cleaner.min.cleanable.ratio"),),
    "min.compaction.lag.ms": (Synonym("log.cleaner.min.compaction.lag.ms"),),
    "min.insync.replicas": (Synonym("min.insync.replicas"),),
    "preallocate": (Synonym("log.preallocate"),),
    "retention.bytes": (Synonym("log.retention.bytes"),),
    "retention.ms": (
        Synonym("log.retention.ms"),
        Synonym("log.retention.minutes", _MINUTE_MS),
        Synonym("log.retention.hours", _HOUR_MS),
    ),
    "segment.bytes": (Synonym("log.segment.bytes"),),
    "segment.index.bytes": (Synonym("log.index.size.max.bytes"),),
    "segment.jitter.ms": (
        Synonym("log.roll.jitter.ms"),
        Synonym("log.roll.jitter.hours", _HOUR_MS),
    ),
    "segment.ms": (Synonym("log.roll.ms"), Synonym("log.roll.hours", _HOUR_MS)),
    "unclean.leader.election.enable": (Synonym("unclean.leader.election.enable"),),
}
"""Which broker settings stand behind a topic setting: the first that has a value counts."""

LISTENER_SETTING = re.compile(r"listener\.name\.([^.]*)\.(.*)")
"""A broker setting for one listener: the listener's name in lower case, then the rest."""

_PER_MECHANISM = (
    "sasl.jaas.config",
    "sasl.login.callback.handler.class",
    "sasl.login.class",
    "sasl.server.callback.handler.class",
    "connections.max.reauth.ms",
)

_CHAINS = {
    name: tuple(synonym.name for synonym in TOPIC_SYNONYMS[topic_name])
    for topic_name in ("retention.ms", "segment.ms", "segment.jitter.ms")
    for name, _ in TOPIC_SYNONYMS[topic_name]
} | {"log.flush.interval.ms": ("log.flush.interval.ms", "log.flush.scheduler.interval.ms")}


def base_name(name: str) -> str:
    """The setting that a name means without its listener and SASL mechanism."""
    match = LISTENER_SETTING.fullmatch(name)
    if match is None:
        return name
    rest = match[2]
    return next((setting for setting in _PER_MECHANISM if rest.endswith(setting)), rest)


def broker_synonyms(name: str) -> tuple[str, ...]:
    """The names under which a broker setting may have got its value, strongest first."""
    if LISTENER_SETTING.fullmatch(name):
        return (name, base_name(name))
    return unit_synonyms(name)


def unit_synonyms(name: str) -> tuple[str, ...]:
    """The names that differ from this one in their unit alone, and itself; finest first."""
    return _CHAINS.get(name, (name,))
