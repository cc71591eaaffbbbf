"""Processors: Python that sees one record after the other, with stores and timers of its own.

    class Numbering(Processor):
        stores = {"seen": ValueStore("bigint")}

        def process(self, record, context):
            seen = context.value("seen")
            number = (seen.get() or 0) + 1
            seen.put(number)
            yield record.with_value(f"{number}: {record.value}")

    stream.process(Numbering(), returns="string").to("numbered")

Stores and timers belong to the key of the record. This is the slow way: every call of a store
crosses from Python to the JVM.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Protocol

Time = Literal["event", "processing", "none"]
"""Which clock timers follow: that of the records, that of the machine, or none."""


Headers = tuple[tuple[str, bytes | None], ...]
"""Names and values, in their order; a name may come more than once."""


@dataclass(frozen=True, slots=True)
class Record:
    """What a processor gets and gives; structs are dictionaries."""

    key: object
    value: object
    timestamp_ms: int
    headers: Headers = ()

    def with_key(self, key: object) -> "Record":
        return replace(self, key=key)

    def with_value(self, value: object) -> "Record":
        return replace(self, value=value)

    def with_timestamp(self, timestamp_ms: int) -> "Record":
        return replace(self, timestamp_ms=timestamp_ms)

    def with_headers(self, headers: Headers) -> "Record":
        return replace(self, headers=headers)


@dataclass(frozen=True, slots=True)
class ValueStore:
    """One value for each key, of a type as in SQL."""

    type: str


@dataclass(frozen=True, slots=True)
class ListStore:
    """A list for each key."""

    type: str


@dataclass(frozen=True, slots=True)
class MapStore:
    """A dictionary for each key."""

    key_type: str
    value_type: str


Store = ValueStore | ListStore | MapStore


class ValueOfKey(Protocol):
    """The value that a store has for the key of the record."""

    def get(self) -> object: ...
    def put(self, value: object) -> None: ...
    def delete(self) -> None: ...


class ListOfKey(Protocol):
    """The list that a store has for the key of the record."""

    def get(self) -> list[object]: ...
    def append(self, value: object) -> None: ...
    def delete(self) -> None: ...


class MapOfKey(Protocol):
    """The dictionary that a store has for the key of the record."""

    def get(self, key: object) -> object: ...
    def put(self, key: object, value: object) -> None: ...
    def delete(self, key: object) -> None: ...
    def items(self) -> Iterator[tuple[object, object]]: ...


class Context(Protocol):
    """What a processor may reach for while it handles a record or a timer."""

    @property
    def now_ms(self) -> int:
        """The time that timers follow: with `event` it never goes beyond the newest record."""

    def value(self, store: str) -> ValueOfKey: ...
    def list(self, store: str) -> ListOfKey: ...
    def map(self, store: str) -> MapOfKey: ...

    def set_timer(self, time_ms: int) -> None:
        """Call `on_timer` for this key when that time has come; once for each time.

        A time that has passed comes as soon as possible.
        """

    def delete_timer(self, time_ms: int) -> None:
        """Forget a timer."""


class Processor(ABC):
    """To be subclassed; it is sent to workers, so what it holds must be picklable."""

    stores: ClassVar[Mapping[str, Store]] = {}
    time: ClassVar[Time] = "none"
    # How long timers wait for late records, where time is that of the records. None is dropped.
    grace_ms: ClassVar[int] = 0

    @abstractmethod
    def process(self, record: Record, context: Context) -> Iterable[Record]:
        """What a record becomes; records of a key come in order."""

    def on_timer(
        self,
        key: object,  # noqa: ARG002 - for subclasses
        time_ms: int,  # noqa: ARG002
        context: Context,  # noqa: ARG002
    ) -> Iterable[Record]:
        """What happens when a timer is due."""
        return ()
