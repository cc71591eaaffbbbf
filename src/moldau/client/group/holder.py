"""The holder of a member's partitions, which is notified as they come and go."""

from typing import Protocol

from moldau.errors import KafkaError
from moldau.model import TopicPartition


class Holder(Protocol):
    """The consumer, as the participation in a group calls it."""

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
        """Raise to the user what no retry helps with."""
