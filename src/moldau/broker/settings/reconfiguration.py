"""What happens to a running broker when its own settings change."""

import logging

from moldau.broker.broker import Broker
from moldau.broker.membership.listening import connection_limits_of
from moldau.config.broker.advice import ignored_changes
from moldau.config.effective import BrokerLayers

_log = logging.getLogger(__name__)


def reconfigure(broker: Broker, layers: BrokerLayers) -> None:
    """Let everything that was made from the settings know the new ones."""
    config = broker.config = layers.config
    for sentence in ignored_changes(layers):
        _log.warning("%s", sentence)
    limits = connection_limits_of(config, layers.texts)
    for listener in broker.listeners:
        listener.admission.limits = limits
    broker.key_stores.apply(layers)
    for directory in broker.logs.directories:
        directory.shared.producer_expiration_ms = config.log.producer_id_expiration_ms
    broker.logs.reconfigure_all()
    broker.fetching.divide()
