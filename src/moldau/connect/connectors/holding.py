"""Sinks that store many records at once: what files and lakes want, small writes being dear.

What is held back is not committed: after a failure it is read again. Each part that is stored says
where the next one begins, so that what was stored already is left out then.
"""

import time
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from moldau.connect.config.definition import PluginSetting, at_least
from moldau.connect.config.values import flag, number
from moldau.connect.connector import Sink
from moldau.connect.errors import ConnectError, DataError

SETTINGS = (
    PluginSetting("rows.per.file", "INT", "100000", check=at_least(1)),
    PluginSetting("seconds.per.file", "INT", "60", check=at_least(1)),
    PluginSetting("place.columns", "BOOLEAN", "false"),
)
_PLACE = {"offset": "__offset", "timestamp": "__timestamp"}


@dataclass(frozen=True, slots=True)
class HeldPart:
    """Records of one partition, in their order."""

    topic: str
    partition: int
    records: pa.Table

    @property
    def first_offset(self) -> int:
        """Of its first record."""
        found: int = self.records.column("offset")[0].as_py()
        return found

    @property
    def next_offset(self) -> int:
        """Where the next part begins at the earliest."""
        found: int = self.records.column("offset")[-1].as_py()
        return found + 1

    def since(self, offset: int) -> "HeldPart | None":
        """What there is from an offset on."""
        rest = self.records.filter(pc.greater_equal(self.records.column("offset"), offset))
        return HeldPart(self.topic, self.partition, rest) if rest.num_rows else None


@dataclass(slots=True)
class Held:
    """What was not stored yet, by its partitions."""

    now_s: Callable[[], float] = time.monotonic
    parts: dict[tuple[str, int], list[pa.Table]] = field(default_factory=dict)
    rows: int = 0
    since_s: float = 0.0
    _types: tuple[pa.DataType, pa.DataType] | None = None

    def fits(self, records: pa.Table) -> bool:
        """Whether they have the schema of what is held."""
        return not self.rows or self._types == _types_of(records)

    def add(self, records: pa.Table) -> None:
        """Hold records of one schema."""
        if not self.rows:
            self.since_s, self._types = self.now_s(), _types_of(records)
        for topic in pc.unique(records.column("topic")).to_pylist():
            of_topic = records.filter(pc.equal(records.column("topic"), topic))
            for partition in pc.unique(of_topic.column("partition")).to_pylist():
                chosen = pc.equal(of_topic.column("partition"), partition)
                self.parts.setdefault((topic, partition), []).append(of_topic.filter(chosen))
        self.rows += records.num_rows

    def age_s(self) -> float:
        """How long the first has been held."""
        return self.now_s() - self.since_s

    def all(self) -> list[HeldPart]:
        """Everything that is held, to be stored; it is held until it is forgotten."""
        return [
            HeldPart(topic, partition, pa.concat_tables(tables))
            for (topic, partition), tables in sorted(self.parts.items())
        ]

    def forget(self) -> None:
        """It is stored."""
        self.parts.clear()
        self.rows = 0


def _types_of(records: pa.Table) -> tuple[pa.DataType, pa.DataType]:
    return records.field("key").type, records.field("value").type


class HoldingSink(Sink):
    """Stores when there are enough rows, or after some time; tombstones are left out."""

    settings: ClassVar[Sequence[PluginSetting]] = SETTINGS
    runs_anywhere = False
    """What is held back is in this process alone."""

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        self._rows_max = number(config, "rows.per.file", 100_000)
        self._age_max_s = number(config, "seconds.per.file", 60)
        self._has_places = flag(config, "place.columns", default=False)
        self.held = Held()

    def write(self, table: pa.Table, batch_id: int) -> None:
        """Hold the records, or store them with what is held."""
        del batch_id
        # Where there is nothing else, what type they would have is not known either.
        table = table.filter(pc.is_valid(table.column("value")))
        if not table.num_rows:
            return
        if not self.held.fits(table):
            self._store_held()
        self.held.add(table)
        if self.held.rows >= self._rows_max:
            self._store_held()

    def settle(self, *, ends: bool = False) -> bool:
        """Store what has been held for long enough."""
        if self.held.rows and (ends or self.held.age_s() >= self._age_max_s):
            self._store_held()
        return not self.held.rows

    def _store_held(self) -> None:
        try:
            self.store(self.held.all())
        except DataError as error:
            # As such it would be blamed on the records of one write, and those held twice.
            raise ConnectError(str(error)) from error
        self.held.forget()

    @abstractmethod
    def store(self, parts: Sequence[HeldPart]) -> None:
        """Store parts, or of each what is not stored yet; all are of one schema."""

    def rows_of(self, part: HeldPart) -> pa.Table:
        """What is to be written: fields as columns, and where they come from if wanted."""
        records = part.records
        value = records.column("value")
        columns: dict[str, pa.ChunkedArray] = {}
        if pa.types.is_struct(value.type):
            fields = [value.type.field(at) for at in range(value.type.num_fields)]
            columns = {each.name: pc.struct_field(value, each.name) for each in fields}
        else:
            columns["value"] = value
        if self._has_places:
            columns |= {name: records.column(place) for place, name in _PLACE.items()}
        return pa.table(columns)
