"""Offsets by topic and partition, in the JSON that Spark's own Kafka source writes."""

import json
from collections.abc import Mapping

from moldau.model import TopicPartition

EARLIEST, LATEST = -2, -1
COMMITTED = -1000
"""Where a group is; no bound that is given as JSON can say so."""
Offsets = dict[TopicPartition, int]
JsonOffsets = dict[str, dict[str, int]]


def to_json(offsets: Mapping[TopicPartition, int]) -> JsonOffsets:
    """`{"orders": {"0": 23}}`, in a fixed order, so that equal offsets are equal texts."""
    found: JsonOffsets = {}
    for (topic, partition), offset in sorted(offsets.items()):
        found.setdefault(topic, {})[str(partition)] = offset
    return found


def from_json(offsets: Mapping[str, Mapping[str, int]]) -> Offsets:
    """The offsets in what `to_json` gave."""
    return {
        TopicPartition(topic, int(partition)): int(offset)
        for topic, partitions in offsets.items()
        for partition, offset in partitions.items()
    }


def parse(option: str, text: str) -> Offsets:
    """The offsets, or timestamps, that an option gives as JSON."""
    try:
        found = json.loads(text)
        return from_json(found)
    except (ValueError, AttributeError, TypeError) as error:
        example = '{"orders":{"0":23,"1":-2}}'
        raise ValueError(f"{option}: {text!r} is not like {example}") from error
