"""Every setting of Java's clients is one of ours, left out with a word, or refused."""

import logging
from dataclasses import fields

import pytest

from moldau.client.java_classes import OF_CONSUMERS, OF_PRODUCERS
from moldau.client.java_settings import HARMLESS, REFUSED
from moldau.client.settings import (
    AdminSettings,
    ClientSettings,
    ConsumerSettings,
    ProducerSettings,
    dotted,
    read_settings,
)
from moldau.errors import InvalidConfig
from unit.client import java_setting_names as java

SERVERS = {"bootstrap.servers": "a:1"}


@pytest.mark.parametrize(
    ("kind", "names", "functions"),
    [
        (ProducerSettings, java.PRODUCER, OF_PRODUCERS),
        (ConsumerSettings, java.CONSUMER, OF_CONSUMERS),
        (AdminSettings, java.ADMIN, ()),
    ],
)
def test_every_name_of_javas_clients_is_known(
    kind: type[ClientSettings], names: frozenset[str], functions: tuple[str, ...]
) -> None:
    own = {dotted(field.name) for field in fields(kind)}
    assert names <= own | HARMLESS.keys() | REFUSED.keys() | set(functions)
    of_others = {"client.rack"} if kind is ConsumerSettings else set()
    assert own & (HARMLESS.keys() | REFUSED.keys()) == of_others


def test_nothing_is_left_out_that_java_does_not_know() -> None:
    names = java.PRODUCER | java.CONSUMER | java.ADMIN
    assert HARMLESS.keys() | REFUSED.keys() <= names
    assert not HARMLESS.keys() & REFUSED.keys()


def test_what_is_left_out_is_said(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "moldau.client.java_settings"):
        read_settings(ProducerSettings, {**SERVERS, "metric.reporters": "a.B"}, {})
        read_settings(ProducerSettings, SERVERS, {"ssl_provider": "SunJSSE"})
    assert [each.getMessage() for each in caplog.records] == [
        "the setting metric.reporters=a.B is not used: metrics are given to on_metrics",
        "the setting ssl.provider=SunJSSE is not used: a matter of Java's",
    ]


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_would_change_what_happens_is_refused_with_the_reason(name: str) -> None:
    with pytest.raises(InvalidConfig, match="is not supported: ") as refused:
        read_settings(ClientSettings, {**SERVERS, name: "com.example.Other"}, {})
    assert str(refused.value).endswith(REFUSED[name])
    read_settings(ClientSettings, {**SERVERS, name: ""}, {})


def test_what_happens_anyway_may_be_said() -> None:
    package = "org.apache.kafka.common.security.oauthbearer"
    settings = {
        **SERVERS,
        "sasl.login.callback.handler.class": f"{package}.OAuthBearerLoginCallbackHandler",
        "sasl.oauthbearer.jwt.retriever.class": f"{package}.DefaultJwtRetriever",
        "sasl.oauthbearer.jwt.validator.class": f"{package}.DefaultJwtValidator",
        "transaction.two.phase.commit.enable": "false",
        "partitioner.ignore.keys": "false",
        "internal.leave.group.on.close": "true",
        "interceptor.classes": "",
    }
    read_settings(ClientSettings, settings, {})
