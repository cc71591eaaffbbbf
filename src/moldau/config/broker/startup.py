"""What a broker starts with: its settings, checked, and what to say about them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from moldau.config.broker.advice import warnings
from moldau.config.broker.broker import BrokerConfig, read_broker_config
from moldau.config.broker.checks import check_broker_config
from moldau.config.listener_settings import ListenerSettings
from moldau.config.listeners import (
    Listeners,
    SecurityProtocol,
    check_advertised_to_brokers,
    read_listeners,
)
from moldau.config.topic_listing import ListedTopic
from moldau.config.values import invalid


@dataclass(frozen=True, slots=True, kw_only=True)
class Startup:
    """Settings that fit together."""

    config: BrokerConfig
    texts: Mapping[str, str] = field(repr=False)
    """The settings as they were given, with their passwords."""
    listeners: Listeners
    warnings: tuple[str, ...]
    """Sentences about settings that have no effect."""
    listed_topics: Mapping[str, ListedTopic] = field(default_factory=dict)
    """Settings of topics whose logs may be adopted."""


def read_startup(texts: Mapping[str, str]) -> Startup:
    """Read and check a broker's settings; InvalidConfig if it cannot start with them."""
    config = read_broker_config(texts)
    check_broker_config(config)
    listeners = read_listeners(config.network, texts)
    if not config.is_standalone:
        check_advertised_to_brokers(listeners)
    _check_sasl_among_brokers(config, listeners, texts)
    return Startup(config=config, texts=texts, listeners=listeners, warnings=tuple(warnings(texts)))


def _check_sasl_among_brokers(
    config: BrokerConfig, listeners: Listeners, texts: Mapping[str, str]
) -> None:
    protocol = next(
        listener.protocol
        for listener in listeners.bound
        if listener.name == listeners.inter_broker_name
    )
    if protocol not in (SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL):
        return
    settings = ListenerSettings(texts, listeners.inter_broker_name)
    enabled = settings.value("sasl.enabled.mechanisms")
    assert isinstance(enabled, tuple)
    mechanism = config.sasl.sasl_mechanism_inter_broker_protocol
    if mechanism not in enabled:
        allowed = f"one of sasl.enabled.mechanisms ({', '.join(enabled)})"
        raise invalid("sasl.mechanism.inter.broker.protocol", mechanism, allowed)
