"""The topics in which the coordinators keep their state."""

CONSUMER_OFFSETS = "__consumer_offsets"
TRANSACTION_STATE = "__transaction_state"
CLUSTER_METADATA = "__cluster_metadata"
"""Belongs to clusters without ZooKeeper: no client may create it."""

INTERNAL_TOPICS = frozenset((CONSUMER_OFFSETS, TRANSACTION_STATE))
"""They belong to the broker: clients may only read them."""


def is_internal(topic: str) -> bool:
    """Whether a topic belongs to the broker."""
    return topic in INTERNAL_TOPICS
