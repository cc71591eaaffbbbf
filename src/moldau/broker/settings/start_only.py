"""Settings that a running broker does not look at again: to change them is refused.

Kafka takes such a change, keeps it, shows it, and goes on with what it has until it is started
again: a user whose password was taken away is still let in. What is in the tree already, for
instance from an Apache broker, counts at the next start; where to listen is read from the file.
"""

from collections.abc import Iterable
from dataclasses import replace

from moldau.config.broker.advice import FROM_THE_FILE
from moldau.config.broker.broker import broker_settings
from moldau.config.broker.startup import Startup
from moldau.config.broker.without_effect import reason_of
from moldau.config.effective import BrokerLayers
from moldau.config.synonyms import LISTENER_SETTING, base_name
from moldau.errors import ErrorCode, KafkaError

_LOGINS = "sasl."
_OTHERS = ("connections.max.reauth.ms", "principal.builder.class", "ssl.principal.mapping.rules")


class StartOnly:
    """What such settings were when the broker started."""

    def __init__(self, listeners: Iterable[str], layers: BrokerLayers) -> None:
        """`listeners` are the names of those that there are."""
        self._listeners = frozenset(name.lower() for name in listeners)
        self._started = layers

    def refuse_changes(self, now: BrokerLayers, changed: BrokerLayers) -> None:
        """Raise INVALID_REQUEST if one of them is to become what it is not in use as."""
        refused = [
            name
            for name in {**now.texts, **changed.texts}
            if _is_meant(name, self._listeners)
            and changed.texts.get(name) not in (now.texts.get(name), self._in_use(name))
        ]
        if refused:
            raise KafkaError(
                ErrorCode.INVALID_REQUEST,
                f"Only read at start: {', '.join(refused)}. "
                "Set it in the properties file, and restart the broker",
            )

    def _in_use(self, name: str) -> str | None:
        return (self._started.static if name in FROM_THE_FILE else self._started.texts).get(name)


def _is_meant(name: str, listeners: frozenset[str]) -> bool:
    match = LISTENER_SETTING.fullmatch(name)
    if match is not None and match[1] not in listeners:
        return False
    setting = base_name(name)
    if setting.startswith(_LOGINS):
        return setting in broker_settings() and reason_of(setting) is None
    return setting in FROM_THE_FILE or setting in _OTHERS


def with_dynamic(startup: Startup, layers: BrokerLayers) -> Startup:
    """What a broker starts with if some of it is in the tree; it listens where the file says."""
    return replace(startup, config=layers.config, texts=layers.texts)
