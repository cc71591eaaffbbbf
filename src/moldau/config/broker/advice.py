"""Warnings about broker settings that are read but cannot have the expected effect."""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from moldau.config.broker.authorizer import is_of_authorizer
from moldau.config.broker.broker import broker_settings
from moldau.config.broker.without_effect import reason_of
from moldau.config.suggestion import nearest
from moldau.config.synonyms import base_name

if TYPE_CHECKING:
    from moldau.config.effective import BrokerLayers

_REMOVED = {
    "host.name": "listeners",
    "port": "listeners",
    "advertised.host.name": "advertised.listeners",
    "advertised.port": "advertised.listeners",
    "quota.producer.default": "kafka-configs.sh --entity-type clients --entity-default",
    "quota.consumer.default": "kafka-configs.sh --entity-type clients --entity-default",
    "zookeeper.sync.time.ms": "nothing, it had no effect",
    "replica.lag.max.messages": "replica.lag.time.max.ms",
    "log.cleaner.min.retention.ms": "log.cleaner.delete.retention.ms",
}
"""Settings of older Kafka versions, and what took their place."""

JAVA_CLASSES = (
    "create.topic.policy.class.name",
    "alter.config.policy.class.name",
    "client.quota.callback.class",
    "sasl.server.callback.handler.class",
    "sasl.client.callback.handler.class",
    "sasl.login.callback.handler.class",
    "sasl.login.class",
    "ssl.engine.factory.class",
    "metric.reporters",
    "kafka.metrics.reporters",
    "security.providers",
)
"""Settings that name Java classes, which cannot be loaded here."""

FROM_THE_FILE = ("listeners", "advertised.listeners", "listener.security.protocol.map")
"""Settings that Kafka applies while it runs, and that are only read from the file here."""


_JAAS = "sasl.jaas.config"
_MECHANISM_OF_LISTENER = re.compile(rf"listener\.name\.[^.]+\.[^.]+\.{re.escape(_JAAS)}")


def warnings(texts: Mapping[str, str]) -> Iterator[str]:
    """One sentence for each setting that will not do anything.

    Kafka, too, starts with unknown settings: they may belong to a plug-in. Their values
    are not shown, for a plug-in may have secrets.
    """
    known = broker_settings()
    for name, text in texts.items():
        setting = base_name(name)
        if setting in _REMOVED:
            yield f"{name} is not used any more: use {_REMOVED[setting]}"
        elif is_of_authorizer(name):
            if not texts.get("authorizer.class.name", "").strip():
                yield f"{name} has no effect: there is no authorizer.class.name"
        elif setting not in known:
            meant = nearest(setting, known)
            hint = f": did you mean {meant}?" if meant else ""
            yield f"{name} is not a known setting{hint}"
        elif setting == _JAAS and _MECHANISM_OF_LISTENER.fullmatch(name) is None:
            example = f"listener.name.external.plain.{_JAAS}"
            yield f"{name} has no effect: it needs a listener and a mechanism, as in {example}"
        elif setting in JAVA_CLASSES and text.strip():
            yield f"{name} has no effect: Java classes cannot be loaded"
        elif text.strip() != known[setting].default_text:
            reason = reason_of(setting)
            if reason is not None:
                yield f"{name} has no effect: {reason}"


def ignored_changes(layers: "BrokerLayers") -> Iterator[str]:
    """One sentence for each dynamic setting that would take effect in Kafka."""
    for name in FROM_THE_FILE:
        if layers.texts.get(name) != layers.static.get(name):
            yield f"{name} is only read at start: set it in the properties file, and restart"
