"""Changes of settings that would protect nothing: a running broker refuses them.

Kafka keeps and shows whatever begins with a listener's name, and goes on as before. Users who mean
to secure a listener by such a change must learn that it stays open.
"""

from collections.abc import Iterator

from moldau.config.broker.advice import JAVA_CLASSES
from moldau.config.broker.broker import broker_settings
from moldau.config.broker.without_effect import reason_of
from moldau.config.effective import BrokerLayers
from moldau.config.synonyms import LISTENER_SETTING, base_name
from moldau.errors import ErrorCode, KafkaError

_OF_SECURITY = ("sasl.", "ssl.")
_OF_LISTENERS = frozenset(
    (
        "connections.max.reauth.ms",
        "max.connection.creation.rate",
        "max.connections",
        "num.network.threads",
        "principal.builder.class",
    )
)
_NO_CLASSES = "Java classes and providers cannot be loaded"


def refuse_vain_changes(now: BrokerLayers, changed: BrokerLayers) -> None:
    """Raise INVALID_REQUEST if something is to be set that has no effect."""
    refused = [
        f"{name} has no effect: {reason}"
        for name, text in _dynamic(changed).items()
        if text not in (_dynamic(now).get(name), now.static.get(name))
        for reason in _reasons(name)
    ]
    if refused:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "; ".join(refused))


def _dynamic(layers: BrokerLayers) -> dict[str, str]:
    return {**layers.cluster, **layers.broker}


def _reasons(name: str) -> Iterator[str]:
    """Why a setting does nothing; none if it does, or nobody here knows it."""
    setting = base_name(name)
    if setting not in broker_settings():
        return
    is_of_security = setting.startswith(_OF_SECURITY)
    if LISTENER_SETTING.fullmatch(name) and not is_of_security and setting not in _OF_LISTENERS:
        yield "a listener has no such setting of its own"
    elif setting in JAVA_CLASSES or setting == "ssl.provider":
        yield _NO_CLASSES
    elif is_of_security:
        reason = reason_of(setting)
        if reason is not None:
            yield reason
