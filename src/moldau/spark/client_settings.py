"""Options `kafka.*`: which of the settings of Kafka's own clients are used, and which are not."""

import logging
from collections.abc import Mapping
from dataclasses import fields
from functools import cache

from moldau.client.settings import ClientSettings, ConsumerSettings, dotted
from moldau.config.suggestion import nearest
from moldau.config.values import config_error
from moldau.errors import KafkaError

_log = logging.getLogger(__name__)

CLIENT_PREFIX = "kafka."

_OF_ALL = (
    "auto.include.jmx.reporter bootstrap.resolve.timeout.ms client.dns.lookup "
    "connections.max.idle.ms enable.metrics.push metadata.cluster.check.enable "
    "metadata.recovery.rebootstrap.trigger.ms metadata.recovery.strategy metric.reporters "
    "metrics.num.samples metrics.recording.level receive.buffer.bytes reconnect.backoff.max.ms "
    "reconnect.backoff.ms retry.backoff.max.ms sasl.kerberos.kinit.cmd "
    "sasl.kerberos.min.time.before.relogin sasl.kerberos.service.name "
    "sasl.kerberos.ticket.renew.jitter sasl.kerberos.ticket.renew.window.factor "
    "sasl.login.connect.timeout.ms sasl.login.read.timeout.ms sasl.login.refresh.buffer.seconds "
    "sasl.login.refresh.min.period.seconds sasl.login.refresh.window.factor "
    "sasl.login.refresh.window.jitter sasl.login.retry.backoff.max.ms sasl.login.retry.backoff.ms "
    "sasl.oauthbearer.allow.unverified.audience sasl.oauthbearer.allow.unverified.issuer "
    "sasl.oauthbearer.assertion.algorithm sasl.oauthbearer.assertion.claim.aud "
    "sasl.oauthbearer.assertion.claim.exp.seconds sasl.oauthbearer.assertion.claim.iss "
    "sasl.oauthbearer.assertion.claim.jti.include sasl.oauthbearer.assertion.claim.nbf.seconds "
    "sasl.oauthbearer.assertion.claim.sub sasl.oauthbearer.assertion.file "
    "sasl.oauthbearer.assertion.private.key.file "
    "sasl.oauthbearer.assertion.private.key.passphrase sasl.oauthbearer.assertion.template.file "
    "sasl.oauthbearer.clock.skew.seconds sasl.oauthbearer.expected.audience "
    "sasl.oauthbearer.expected.issuer sasl.oauthbearer.header.urlencode "
    "sasl.oauthbearer.jwks.endpoint.refresh.ms "
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms "
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms sasl.oauthbearer.jwks.endpoint.url "
    "sasl.oauthbearer.scope.claim.name sasl.oauthbearer.sub.claim.name send.buffer.bytes "
    "socket.connection.setup.timeout.max.ms ssl.keymanager.algorithm ssl.protocol ssl.provider "
    "ssl.secure.random.implementation ssl.trustmanager.algorithm"
)
_OF_CONSUMERS = (
    "default.api.timeout.ms exclude.internal.topics group.id internal.leave.group.on.close "
    "internal.throw.on.fetch.stable.offset.unsupported share.acknowledgement.mode "
    "share.acquire.mode"
)
_OF_PRODUCERS = (
    "buffer.memory.allocation.strategy client.rack metadata.max.idle.ms "
    "partitioner.adaptive.partitioning.enable partitioner.availability.timeout.ms "
    "partitioner.ignore.keys partitioner.rack.aware transaction.two.phase.commit.enable"
)
_CLASSES = (
    "config.providers interceptor.classes partitioner.class sasl.client.callback.handler.class "
    "sasl.login.callback.handler.class sasl.login.class sasl.oauthbearer.jwt.retriever.class "
    "sasl.oauthbearer.jwt.validator.class security.providers ssl.engine.factory.class"
)
CLASSES = frozenset(_CLASSES.split())
"""Settings whose values are classes of Java: those of Kafka do what we do, others cannot run."""
_OF_KAFKA = "org.apache.kafka."


def without_effect(kind: type[ClientSettings]) -> frozenset[str]:
    """What Java's clients of this kind have and what means nothing here (Kafka 3.9 to 4.4)."""
    own = _OF_CONSUMERS if issubclass(kind, ConsumerSettings) else _OF_PRODUCERS
    return frozenset(_OF_ALL.split() + own.split())


def client_settings(
    kind: type[ClientSettings], given: Mapping[str, str], refused: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    """The settings in the options of a source or a sink; ValueError for what cannot be set.

    A job that Spark's own connector runs may have settings that matter only there: they are left
    out, and the log says so. A name that Kafka does not know is a mistake.
    """
    names = {dotted(field.name) for field in fields(kind)}
    idle = without_effect(kind)
    kept, dropped = [], []
    for option, value in sorted(given.items()):
        if not option.startswith(CLIENT_PREFIX):
            continue
        name = option.removeprefix(CLIENT_PREFIX)
        if name in refused:
            raise ValueError(f"{option} cannot be set: {refused[name]}")
        if name in CLASSES and not value.startswith(_OF_KAFKA):
            raise ValueError(f"{option} cannot be set: {value!r} is Java, which does not run here")
        if name in idle or name in CLASSES:
            dropped.append(option)
        elif name in names:
            kept.append((name, value))
        else:
            raise _unknown(option, names | idle | CLASSES)
    if not any(name == "bootstrap.servers" for name, _ in kept):
        raise ValueError("kafka.bootstrap.servers is missing, e.g. localhost:9092")
    if dropped:
        _tell(tuple(dropped))
    return tuple(kept)


def _unknown(option: str, known: set[str]) -> KafkaError:
    meant = nearest(option.removeprefix(CLIENT_PREFIX), known)
    hint = f"; did you mean {CLIENT_PREFIX}{meant}?" if meant else ""
    return config_error(f"{option} is no setting of Kafka's clients{hint}")


@cache  # options are read at every step of a query
def _tell(dropped: tuple[str, ...]) -> None:
    _log.warning("without effect here: %s", ", ".join(dropped))
