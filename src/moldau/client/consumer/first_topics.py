"""Topics that a consumer is given when it is made, as users of other clients write it."""

from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING

from moldau.client.kinds import Key, Value

if TYPE_CHECKING:
    from moldau.client.consumer.consumer import Consumer

Settings = Mapping[str, object]


def split(first: object, others: tuple[str, ...]) -> tuple[Settings | None, tuple[str, ...]]:
    """Settings and topics, of which either may come first."""
    if isinstance(first, str):
        return None, (first, *others)
    if first is None or isinstance(first, Mapping):
        return first, others
    reason = "settings are a mapping, and topics are named one by one"
    raise TypeError(f"{reason}, as in Consumer('a', 'b', …), not by {first!r}")


async def read(
    consumer: "Consumer[Key, Value]", topics: tuple[str, ...], *, is_in_group: bool
) -> None:
    """Subscribe to the topics, or without a group read all partitions that they have now."""
    try:
        if is_in_group:
            consumer.subscribe(topics)
        else:
            found = [await consumer.partitions_of(topic) for topic in topics]
            consumer.assign(chain.from_iterable(found))
    except BaseException:
        await consumer.close()
        raise
