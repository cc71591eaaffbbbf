"""Quotas of users, clients and addresses, which are set dynamically under Kafka's names."""

from moldau.config.definition import Area, double, integer, long
from moldau.config.rules import Rule, Value
from moldau.config.values import FLOAT_MAX, INT_MAX, LONG_MAX


def _is_positive(value: Value) -> bool:
    return isinstance(value, int | float) and value > 0


_POSITIVE = Rule("greater than 0", _is_positive, "(0,...]")


class ClientQuotas(Area):
    """Limits of a user, a client id, or both.

    They are kept and described, but clients are **not slowed down** by them yet; the broker's
    log says so once when one is set.
    """

    producer_byte_rate: int = long(
        LONG_MAX, "Bytes per second that may be produced.", _POSITIVE, name="producer_byte_rate"
    )
    consumer_byte_rate: int = long(
        LONG_MAX, "Bytes per second that may be fetched.", _POSITIVE, name="consumer_byte_rate"
    )
    request_percentage: float = double(
        FLOAT_MAX,
        "Share of the broker's time, in percent of one thread.",
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
    """Limits of an IP address; kept and described, but **without effect** yet."""

    connection_creation_rate: int = integer(
        INT_MAX, "New connections per second.", _POSITIVE, name="connection_creation_rate"
    )
