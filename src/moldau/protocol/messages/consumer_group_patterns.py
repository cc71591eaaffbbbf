"""The record of `__consumer_offsets` for a regular expression of a KIP-848 group.

Kafka has it since 4.0; older brokers skip its key. See `consumer_group_records` for the others.
"""

from moldau.protocol.declaration import message
from moldau.protocol.primitives import Int64


@message(versions=range(16, 17), flexible_from=None)
class ConsumerGroupRegularExpressionKey:
    group_id: str
    regular_expression: str


@message(versions=range(0, 1), flexible_from=0)
class ConsumerGroupRegularExpressionValue:
    topics: list[str]
    version: Int64
    timestamp: Int64
