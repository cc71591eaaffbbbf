"""The rows of a table: the latest value of each key, in the order of their bytes."""

from itertools import islice, takewhile
from typing import NamedTuple

from moldau.streams.queries.key_order import KeyOrder


class TableTooLarge(Exception):
    """A table has more keys than a view may hold."""


class TableRow(NamedTuple):
    key: bytes
    value: bytes


class TableRows:
    """Takes in the records of a changelog; a null value deletes its key."""

    def __init__(self, *, keys_max: int) -> None:
        self._values: dict[bytes, bytes] = {}
        self._order = KeyOrder()
        self._keys_max = keys_max

    def __len__(self) -> int:
        return len(self._values)

    def put(self, key: bytes | None, value: bytes | None) -> None:
        """Take in one record; those without a key are in no table."""
        if key is None:
            return
        is_there = key in self._values
        if value is None:
            if is_there:
                del self._values[key]
                self._order.remove(key)
            return
        self._values[key] = value
        if not is_there:
            self._order.add(key)
        if len(self._values) > self._keys_max:
            raise TableTooLarge(
                f"the table has more than {self._keys_max} keys: raise keys_max, or query a "
                "table of fewer"
            )

    def get(self, key: bytes) -> bytes | None:
        """The value of a key; None without one."""
        return self._values.get(key)

    def after(self, key: bytes | None, limit: int) -> list[TableRow]:
        """At most so many rows, those with the smallest keys behind this one."""
        keys = self._order.from_key(key or b"", is_within=key is None)
        return [TableRow(each, self._values[each]) for each in islice(keys, limit)]

    def starting_with(self, prefix: bytes, limit: int) -> list[TableRow]:
        """At most so many rows whose keys begin so, in order: the windows of a key."""
        keys = self._order.from_key(prefix, is_within=True)
        fitting = takewhile(lambda each: each.startswith(prefix), keys)
        return [TableRow(each, self._values[each]) for each in islice(fitting, limit)]
