"""A record on its way between a connector and a topic."""

from dataclasses import dataclass, replace

from moldau.connect.data.schema import Schema


@dataclass(slots=True, unsafe_hash=True)
class Datum:
    """A value with its schema; without one, as plain JSON has none, it stands for itself.

    As with records, none is changed.
    """

    value: object = None
    schema: Schema | None = None


NULL = Datum()


class FixedStruct(dict[str, object]):
    """A struct that nobody changes once it is made, so what is made of it may be kept."""


@dataclass(slots=True)
class ConnectRecord:
    """What transformations see; `but` makes another one, and none is changed.

    It is not frozen, since that makes each cost four times as much.
    """

    topic: str
    key: Datum = NULL
    value: Datum = NULL
    headers: tuple[tuple[str, Datum], ...] = ()
    timestamp_ms: int | None = None
    partition: int | None = None
    offset: int | None = None
    """Where it was read from; sources have none."""

    def but(self, **changed: object) -> "ConnectRecord":
        """The same with some parts changed."""
        return replace(self, **changed)  # type: ignore[arg-type]


@dataclass(slots=True)
class Outgoing:
    """A record as the producer takes it."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    timestamp_ms: int | None = None
    partition: int | None = None
