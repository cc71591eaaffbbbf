"""Quotas of users, clients and addresses, which are set dynamically under Kafka's names."""

from moldau.config.definition import Area, double, integer, long
from moldau.config.rules import Rule, Value, at_least
from moldau.config.values import FLOAT_MAX, INT_MAX, LONG_MAX


def _is_positive(value: Value) -> bool:
    return isinstance(value, int | float) and value > 0


_POSITIVE = Rule("greater than 0", _is_positive, "(0,...]")


class ClientQuotas(Area):
    """Limits of a user, a client id, or both, on each broker: [docs/security.md](security.md)."""

    producer_byte_rate: int = long(
        LONG_MAX, "Bytes per second that may be produced.", _POSITIVE, name="producer_byte_rate"
    )
    consumer_byte_rate: int = long(
        LONG_MAX, "Bytes per second that may be fetched.", _POSITIVE, name="consumer_byte_rate"
    )
    request_percentage: float = double(
        FLOAT_MAX,
        "Share of the broker's time, in percent of its event loop.",
        _POSITIVE,
        name="request_percentage",
    )
    controller_mutation_rate: float = double(
        FLOAT_MAX,
        "Partitions per second that may be created or deleted.",
        _POSITIVE,
        name="controller_mutation_rate",
    )


class AddressQuotas(Area):
    """Limits of an IP address, on each broker."""

    connection_creation_rate: int = integer(
        INT_MAX,
        "New connections per second; 0 takes none.",
        at_least(0),
        name="connection_creation_rate",
    )
