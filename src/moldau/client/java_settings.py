"""Settings of Java's clients that ours do not have: which may be left out, and which may not.

Files that were written for Java's clients shall work as they are, but nothing that changes what
is read or written may go unsaid.
"""

import logging
from collections.abc import Mapping

from moldau.config.values import config_error

log = logging.getLogger(__name__)

_BY_JAVA = "a matter of Java's"
_TOKENS = "a token is asked for with each connection"
_BROKERS = "a matter of brokers"
_STICKY = "a partition is left after each batch"
_NO_KERBEROS = "Kerberos is not supported"
_ASSERTIONS = "tokens are asked for with an id and a secret"
_REBOOTSTRAP = "bootstrap.servers are always asked when no other broker answers"
_SHARES = "a matter of share groups"

HARMLESS = {
    "auto.include.jmx.reporter": _BY_JAVA,
    "bootstrap.resolve.timeout.ms": "request.timeout.ms is for names, too",
    "buffer.memory.allocation.strategy": _BY_JAVA,
    "client.rack": "consumers have it; producers choose partitions without regard to racks",
    "enable.metrics.push": "metrics are given to on_metrics",
    "metadata.cluster.check.enable": "brokers are taken for those of one cluster",
    "metadata.max.idle.ms": "topics are watched as long as the producer lives",
    "metadata.recovery.rebootstrap.trigger.ms": _REBOOTSTRAP,
    "metadata.recovery.strategy": _REBOOTSTRAP,
    "metric.reporters": "metrics are given to on_metrics",
    "metrics.num.samples": "metrics are totals, and of the last window",
    "metrics.recording.level": "all metrics are recorded",
    "partitioner.adaptive.partitioning.enable": _STICKY,
    "partitioner.availability.timeout.ms": _STICKY,
    "partitioner.rack.aware": _STICKY,
    "retry.backoff.max.ms": "tries are retry.backoff.ms apart",
    "sasl.kerberos.kinit.cmd": _NO_KERBEROS,
    "sasl.kerberos.min.time.before.relogin": _NO_KERBEROS,
    "sasl.kerberos.service.name": _NO_KERBEROS,
    "sasl.kerberos.ticket.renew.jitter": _NO_KERBEROS,
    "sasl.kerberos.ticket.renew.window.factor": _NO_KERBEROS,
    "sasl.login.connect.timeout.ms": "request.timeout.ms is for tokens, too",
    "sasl.login.read.timeout.ms": "request.timeout.ms is for tokens, too",
    "sasl.login.refresh.buffer.seconds": _TOKENS,
    "sasl.login.refresh.min.period.seconds": _TOKENS,
    "sasl.login.refresh.window.factor": _TOKENS,
    "sasl.login.refresh.window.jitter": _TOKENS,
    "sasl.login.retry.backoff.max.ms": _TOKENS,
    "sasl.login.retry.backoff.ms": _TOKENS,
    "sasl.oauthbearer.allow.unverified.audience": _BROKERS,
    "sasl.oauthbearer.allow.unverified.issuer": _BROKERS,
    "sasl.oauthbearer.assertion.algorithm": _ASSERTIONS,
    "sasl.oauthbearer.assertion.claim.aud": _ASSERTIONS,
    "sasl.oauthbearer.assertion.claim.exp.seconds": _ASSERTIONS,
    "sasl.oauthbearer.assertion.claim.iss": _ASSERTIONS,
    "sasl.oauthbearer.assertion.claim.jti.include": _ASSERTIONS,
    "sasl.oauthbearer.assertion.claim.nbf.seconds": _ASSERTIONS,
    "sasl.oauthbearer.assertion.claim.sub": _ASSERTIONS,
    "sasl.oauthbearer.assertion.file": _ASSERTIONS,
    "sasl.oauthbearer.assertion.private.key.file": _ASSERTIONS,
    "sasl.oauthbearer.assertion.private.key.passphrase": _ASSERTIONS,
    "sasl.oauthbearer.assertion.template.file": _ASSERTIONS,
    "sasl.oauthbearer.clock.skew.seconds": _BROKERS,
    "sasl.oauthbearer.expected.audience": _BROKERS,
    "sasl.oauthbearer.expected.issuer": _BROKERS,
    "sasl.oauthbearer.jwks.endpoint.refresh.ms": _BROKERS,
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms": _BROKERS,
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms": _BROKERS,
    "sasl.oauthbearer.jwks.endpoint.url": _BROKERS,
    "sasl.oauthbearer.scope.claim.name": _BROKERS,
    "sasl.oauthbearer.sub.claim.name": _BROKERS,
    "security.providers": _BY_JAVA,
    "share.acknowledgement.mode": _SHARES,
    "share.acquire.mode": _SHARES,
    "socket.connection.setup.timeout.max.ms": "socket.connection.setup.timeout.ms stays as it is",
    "ssl.keymanager.algorithm": _BY_JAVA,
    "ssl.protocol": "ssl.enabled.protocols says which may be used",
    "ssl.provider": _BY_JAVA,
    "ssl.secure.random.implementation": _BY_JAVA,
    "ssl.trustmanager.algorithm": _BY_JAVA,
}
"""Without these all goes on as well; the reason is logged once."""

REFUSED = {
    "bootstrap.controllers": "give bootstrap.servers: controllers are reached through brokers",
    "config.providers": "they are Java's; give the values themselves",
    "interceptor.classes": "they are Java's; use header_hook, a serializer or a deserializer",
    "internal.leave.group.on.close": "it is for Kafka Streams alone",
    "internal.throw.on.fetch.stable.offset.unsupported": "it is for Kafka Streams alone",
    "partitioner.ignore.keys": "give a partitioner of your own, or records without keys",
    "sasl.client.callback.handler.class": "it is Java's; sasl.username and so on say the same",
    "sasl.login.callback.handler.class": "it is Java's; use sasl.oauthbearer.token.provider",
    "sasl.login.class": "it is Java's; sasl.username and so on say the same",
    "sasl.oauthbearer.header.urlencode": "give an id and a secret that need no encoding",
    "sasl.oauthbearer.jwt.retriever.class": "it is Java's; use sasl.oauthbearer.token.provider",
    "sasl.oauthbearer.jwt.validator.class": "it is Java's; tokens are checked by brokers",
    "ssl.engine.factory.class": "it is Java's; ssl.truststore.location and so on say the same",
    "transaction.two.phase.commit.enable": "transactions end within transaction.timeout.ms",
}
"""These would change what happens, so they are refused instead of ignored."""

_OAUTHBEARER = "org.apache.kafka.common.security.oauthbearer"

# Refused settings may say what happens anyway.
_AS_IT_IS: Mapping[str, tuple[str, ...]] = {
    "internal.leave.group.on.close": ("true",),
    "partitioner.ignore.keys": ("false",),
    "sasl.oauthbearer.header.urlencode": ("false",),
    "internal.throw.on.fetch.stable.offset.unsupported": ("false",),
    "sasl.login.callback.handler.class": (
        f"{_OAUTHBEARER}.OAuthBearerLoginCallbackHandler",
        f"{_OAUTHBEARER}.secured.OAuthBearerLoginCallbackHandler",
    ),
    "sasl.oauthbearer.jwt.retriever.class": (
        f"{_OAUTHBEARER}.ClientCredentialsJwtRetriever",
        f"{_OAUTHBEARER}.DefaultJwtRetriever",
    ),
    "sasl.oauthbearer.jwt.validator.class": (
        f"{_OAUTHBEARER}.ClientJwtValidator",
        f"{_OAUTHBEARER}.DefaultJwtValidator",
    ),
    "transaction.two.phase.commit.enable": ("false",),
}
_NOTHING = ("", "none", "null")


def leave_out(name: str, value: object) -> bool:
    """Whether a setting is Java's alone and may be left out; InvalidConfig if it may not be."""
    text = ("" if value is None else str(value)).strip()
    if name in HARMLESS:
        log.info("the setting %s=%s is not used: %s", name, text, HARMLESS[name])
        return True
    if name not in REFUSED:
        return False
    if text.lower() not in _NOTHING and text not in _AS_IT_IS.get(name, ()):
        raise config_error(f"{name}={text} is not supported: {REFUSED[name]}")
    return True
