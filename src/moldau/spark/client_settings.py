"""Options `kafka.*`: the settings of our clients, less those that mean nothing to Spark."""

import logging
from collections.abc import Mapping
from dataclasses import fields
from functools import cache

from moldau.client import java_classes
from moldau.client.java_settings import HARMLESS, REFUSED, leave_out
from moldau.client.settings import ClientSettings, ProducerSettings, dotted
from moldau.config.suggestion import nearest
from moldau.config.values import config_error
from moldau.errors import KafkaError

_log = logging.getLogger(__name__)

CLIENT_PREFIX = "kafka."
_UNUSED = ("group.id", "exclude.internal.topics")
"""What our consumers have, but no source: Spark keeps the offsets and is in no group."""
_PARTITIONER = "partitioner.class"
_leave_out = cache(leave_out)  # and say so once: options are read at every step of a query


def client_settings(
    kind: type[ClientSettings], given: Mapping[str, str], refused: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    """The settings in the options of a source or a sink; an error for what cannot be set.

    A job that Spark's own connector runs may have settings that matter only there: they are left
    out, and the log says so. A name that Kafka does not know is a mistake.
    """
    names = {dotted(field.name) for field in fields(kind)}
    kept, dropped = [], []
    for option, value in sorted(given.items()):
        if not option.startswith(CLIENT_PREFIX):
            continue
        name = option.removeprefix(CLIENT_PREFIX)
        if name in refused:
            raise ValueError(f"{option} cannot be set: {refused[name]}")
        if name in names and name not in _UNUSED:
            kept.append((name, value))
        elif name in names or _is_without_effect(kind, name, value):
            dropped.append(option)
        else:
            raise _unknown(option, names)
    if not any(name == "bootstrap.servers" for name, _ in kept):
        raise ValueError("kafka.bootstrap.servers is missing, e.g. localhost:9092")
    if dropped:
        _warn_of(tuple(dropped))
    return tuple(kept)


def _is_without_effect(kind: type[ClientSettings], name: str, value: str) -> bool:
    """Whether a setting of Java's clients may be left out; an error if it may not be."""
    if name != _PARTITIONER or not issubclass(kind, ProducerSettings):
        return _leave_out(name, value)
    if java_classes.partitioner({name: value}, None) is None:
        return True
    hint = "rows go by their keys, or by a column 'partition'"
    raise ValueError(f"{CLIENT_PREFIX}{name} cannot be set: {hint}")


def _unknown(option: str, names: set[str]) -> KafkaError:
    meant = nearest(option.removeprefix(CLIENT_PREFIX), names | HARMLESS.keys() | REFUSED.keys())
    hint = f"; did you mean {CLIENT_PREFIX}{meant}?" if meant else ""
    return config_error(f"{option} is no setting of Kafka's clients{hint}")


@cache
def _warn_of(dropped: tuple[str, ...]) -> None:
    _log.warning("Settings without effect in Spark: %s", ", ".join(dropped))
