"""Whose settings a request is about: a topic's, a broker's, all brokers', or a logger's level."""

from enum import IntEnum
from typing import NamedTuple

from moldau.broker.access.authorizer import Asking, Authorizer
from moldau.errors import ErrorCode, KafkaError
from moldau.metadata.image import ClusterImage
from moldau.security.acls import Operation, ResourceType

SETTINGS_MAX = 1_000
_ID_DIGITS_MAX = 32  # int() raises for thousands


class ConfigResourceType(IntEnum):
    """Kinds of resources that have settings, numbered as requests name them."""

    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16


class RequestedResource(NamedTuple):
    """One resource of a request; the type may be one that we do not know."""

    type: int
    name: str


def require_right(
    resource: RequestedResource, operation: Operation, asking: Asking, authorizer: Authorizer
) -> None:
    """Raise unless the client may do this with settings: a topic has its own rights for them."""
    if resource.type == ConfigResourceType.TOPIC:
        authorizer.require(asking, operation, ResourceType.TOPIC, resource.name)
    else:
        authorizer.require(asking, operation)


def require_topic(name: str, image: ClusterImage) -> None:
    """Raise unless there is such a topic."""
    if name not in image.topics:
        message = f"The topic '{name}' does not exist."
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)


def broker_of(name: str, own_id: int) -> int | None:
    """The broker that a resource is called by; None for all of them, which have no name.

    Raises INVALID_REQUEST for a broker that is not this one: each answers for itself.
    """
    if not name:
        return None
    if not name.removeprefix("-").isdecimal():
        message = f"Broker id must be an integer, but it is: {name}"
        raise KafkaError(ErrorCode.INVALID_REQUEST, message)
    if len(name) > _ID_DIGITS_MAX or int(name) != own_id:
        message = f"Unexpected broker id, expected {own_id} or empty string, but received {name}"
        raise KafkaError(ErrorCode.INVALID_REQUEST, message)
    return own_id


def require_sensible_settings(count: int) -> None:
    """Raise for more settings of one thing than there are."""
    if count > SETTINGS_MAX:
        message = f"{count} settings are more than the {SETTINGS_MAX} that one request may change"
        raise KafkaError(ErrorCode.INVALID_REQUEST, message)
