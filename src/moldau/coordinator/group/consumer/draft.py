"""A group as it will be once what is being decided has been written."""

from moldau.coordinator.group.consumer.group import ConsumerGroup
from moldau.coordinator.group.consumer.records import ConsumerRecord


class Draft:
    """Takes in each record as soon as it is decided, so that the next can depend on it.

    The group itself changes only when the records have been appended. It is copied with the
    first record: nearly all heartbeats change nothing.
    """

    __slots__ = ("_is_copy", "group", "records")

    def __init__(self, group: ConsumerGroup) -> None:
        self.group = group
        self.records: list[ConsumerRecord] = []
        self._is_copy = False

    def add(self, *records: ConsumerRecord) -> None:
        """Decide on records."""
        if records and not self._is_copy:
            self.group = self.group.copy()
            self._is_copy = True
        for record in records:
            self.group.apply(record)
            self.records.append(record)
