"""Where a broker is in its life."""

from enum import IntEnum


class BrokerState(IntEnum):
    """Numbered as Kafka's metric `BrokerState` does; recovery is part of the start here."""

    STARTING = 1
    RUNNING = 3
    HANDING_OVER = 6
    STOPPING = 7
