"""What would protect nothing is not stored as if it did."""

from contextlib import suppress

import pytest

from moldau.broker.settings.start_only import StartOnly
from moldau.broker.settings.vain_changes import refuse_vain_changes
from moldau.config.alteration import check_broker_overrides
from moldau.config.broker.broker import broker_settings
from moldau.config.effective import BrokerLayers
from moldau.errors import KafkaError
from moldau.security.listener_tls import READ_BY_LISTENERS

OWN = "listener.name.ssl."
STATIC = {"listeners": "SSL://:1", "security.inter.broker.protocol": "SSL"}
KEPT = {f"{OWN}quota.window.num": "3"}
NOW = BrokerLayers(STATIC, broker=KEPT)


def changed(**texts: str) -> BrokerLayers:
    return BrokerLayers(STATIC, broker={**KEPT, **texts})


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (f"{OWN}authorizer.class.name", "a listener has no such setting"),
        (f"{OWN}max.connections.per.ip", "a listener has no such setting"),
        (f"{OWN}moldau.handshake.timeout.ms", "a listener has no such setting"),
        (f"{OWN}zookeeper.set.acl", "a listener has no such setting"),
        (f"{OWN}ssl.engine.factory.class", "Java classes"),
        ("ssl.provider", "Java classes"),
        ("ssl.trustmanager.algorithm", "OpenSSL does this here"),
        (f"{OWN}sasl.kerberos.principal.to.local.rules", "GSSAPI"),
    ],
)
def test_what_has_no_effect_is_refused_with_the_reason(name: str, reason: str) -> None:
    with pytest.raises(KafkaError, match=f"{name} has no effect: .*{reason}") as caught:
        refuse_vain_changes(NOW, changed(**{name: "of-a-value"}))
    assert "of-a-value" not in str(caught.value)


@pytest.mark.parametrize(
    "name",
    [
        f"{OWN}max.connections",
        f"{OWN}ssl.client.auth",
        "log.cleaner.threads",
        "num.io.threads",  # of Kafka's threads: those who tune them lose nothing
        "of.a.plugin",
        f"{OWN}of.a.plugin",
    ],
)
def test_others_may_change(name: str) -> None:
    refuse_vain_changes(NOW, changed(**{name: "1"}))


def test_what_is_there_already_can_stay_and_go() -> None:
    refuse_vain_changes(NOW, changed(**{"log.cleaner.threads": "2"}))
    refuse_vain_changes(NOW, BrokerLayers(STATIC))


def is_taken(setting: str, name: str) -> bool:
    texts = ("true", "7", "none", "a:1", "TLSv1.2", broker_settings()[setting].default_text or "x")
    for text in texts:
        with suppress(KafkaError):
            layers = changed(**{name: text})
            check_broker_overrides(layers, is_for_one_broker=True)
            StartOnly(["SSL"], NOW).refuse_changes(NOW, layers)
            refuse_vain_changes(NOW, layers)
            return True
    return False


def test_of_all_settings_only_those_are_taken_that_do_something() -> None:
    of_listener = {each for each in broker_settings() if is_taken(each, f"{OWN}{each}")}
    limits = {"max.connections", "max.connection.creation.rate", "num.network.threads"}
    checks = {"ssl.allow.dn.changes", "ssl.allow.san.changes"}
    assert of_listener == {*limits, *checks, *READ_BY_LISTENERS}
    of_all = {each for each in broker_settings() if is_taken(each, each)}
    shared = {each for each in of_all if each.startswith(("sasl.", "ssl.", "principal."))}
    assert shared <= READ_BY_LISTENERS
