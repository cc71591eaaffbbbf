"""What is made once for each topic and schema, and kept as long as there is room."""

from collections.abc import Callable
from typing import Generic, TypeVar

from moldau.connect.data.schema import Schema

Made = TypeVar("Made")

_SCHEMAS_MAX = 1000


class PerSchema(Generic[Made]):
    """Every batch of a source brings schema objects of its own that are equal to the last ones."""

    def __init__(self, make: Callable[[str, Schema], Made], schemas_max: int = _SCHEMAS_MAX):
        self._make = make
        self._schemas_max = schemas_max
        self._known: dict[tuple[str, Schema], Made] = {}
        self._last: tuple[str, Schema, Made] | None = None

    def of(self, topic: str, schema: Schema) -> Made:
        """What belongs to a schema; neighbours mostly have the same."""
        last = self._last
        if last is not None and last[1] is schema and last[0] == topic:
            return last[2]
        found = self._known.get((topic, schema))
        if found is None:
            if len(self._known) >= self._schemas_max:
                self._known.clear()
            found = self._known[topic, schema] = self._make(topic, schema)
        self._last = (topic, schema, found)
        return found
