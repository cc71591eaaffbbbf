"""What consumers subscribe to, as they say in the metadata of their protocol."""

from collections.abc import Iterable

from moldau.errors import ProtocolError
from moldau.protocol.codec import decode
from moldau.protocol.messages.consumer_protocol import ConsumerProtocolSubscription

CONSUMER = "consumer"
"""The protocol type of consumers; other types keep their metadata to themselves."""

_VERSION_SIZE = 2


def subscribed_topics(metadata: Iterable[bytes]) -> frozenset[str] | None:
    """All topics that members subscribe to, or None if one of them cannot be read.

    Every version begins as version 0 does, which is all that is read.
    """
    topics: list[str] = []
    try:
        for each in metadata:
            subscription, _ = decode(ConsumerProtocolSubscription, 0, each, _VERSION_SIZE)
            topics += subscription.topics
    except ProtocolError:
        return None
    return frozenset(topics)
