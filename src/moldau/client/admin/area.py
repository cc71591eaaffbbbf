"""What every area of administration has: the way to the brokers."""

from collections.abc import Iterable, Mapping
from typing import TypeVar

from moldau.client.admin.routing import Router
from moldau.client.lifetime import Lifetime
from moldau.model import TopicPartition

Value = TypeVar("Value")


class AdminArea:
    """A part of the Admin client; all parts share its life."""

    def __init__(self) -> None:
        self._lifetime = Lifetime("admin client")
        self._routes: Router

    @property
    def _router(self) -> Router:
        self._lifetime.check()
        return self._routes


def names(given: str | Iterable[str]) -> list[str]:
    """One name or several."""
    return [given] if isinstance(given, str) else list(given)


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    """The partitions of each topic, as requests list them."""
    topics: dict[str, list[int]] = {}
    for topic, partition in partitions:
        topics.setdefault(topic, []).append(partition)
    return topics


def values_by_topic(
    values: Mapping[TopicPartition, Value],
) -> dict[str, list[tuple[int, Value]]]:
    """The partitions of each topic with what is said of them."""
    topics: dict[str, list[tuple[int, Value]]] = {}
    for (topic, partition), value in values.items():
        topics.setdefault(topic, []).append((partition, value))
    return topics
