"""Whoever holds the partitions of a member, and is told which come and go."""

from typing import Protocol

from moldau.errors import KafkaError
from moldau.model import TopicPartition


class Holder(Protocol):
    """What takes part in a group tells the consumer."""

    def held(self) -> list[TopicPartition]:
        """What the group gave."""

    async def commit(self) -> None:
        """Store how far the user is, if that is not left to the user."""

    async def give_back(self, partitions: list[TopicPartition]) -> None:
        """Others shall have these, or have them already."""

    async def lose(self, partitions: list[TopicPartition]) -> None:
        """Others have these already: the member was thrown out, and can commit nothing."""

    async def receive(self, partitions: list[TopicPartition]) -> None:
        """These are all that the member has now; some of them it may have had before."""

    def failed(self, error: KafkaError) -> None:
        """Tell the user what no retry helps with."""
