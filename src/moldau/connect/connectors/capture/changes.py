"""Changes as records are made of them, whichever database they are from."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from moldau.connect.connectors.capture.cells import Cells
from moldau.connect.connectors.capture.places import Place
from moldau.connect.connectors.capture.tables import CapturedTable, Row

CREATE, UPDATE, DELETE, TRUNCATE, MESSAGE = "c", "u", "d", "t", "m"


@dataclass(frozen=True, slots=True)
class Order:
    """Which change of its transaction, and of its table therein, this is."""

    total: int
    of_table: int


@dataclass(slots=True)
class RowChange:
    """One change of one row, or the truncation of a table."""

    table: CapturedTable
    operation: str
    place: Place
    old: Cells | None = None
    has_full_old: bool = False
    new: Cells | None = None
    order: Order | None = None
    other_key: Row | None = None
    """Where the key changed: the new one of a row that goes, the old one of a row that comes."""


@dataclass(frozen=True, slots=True)
class LoggedMessage:
    """A message that an application wrote into the log."""

    place: Place
    prefix: str
    content: bytes
    order: Order | None = None


@dataclass(frozen=True, slots=True)
class TransactionBegin:
    """Is given if transactions are wanted."""

    place: Place


@dataclass(frozen=True, slots=True)
class TransactionEnd:
    """How many changes of which tables it had."""

    place: Place
    counts: Mapping[str, int]


Change = RowChange | LoggedMessage | TransactionBegin | TransactionEnd


@dataclass(slots=True)
class TransactionCounts:
    """How many changes a transaction has, by tables."""

    counts: dict[str, int] = field(default_factory=dict)

    def next(self, name: str) -> Order:
        """One more of a table."""
        self.counts[name] = self.counts.get(name, 0) + 1
        return Order(sum(self.counts.values()), self.counts[name])


def split_key_change(change: RowChange) -> Iterator[RowChange]:
    """An update that changes the key is a row that goes, and one that comes."""
    table, old, new = change.table, change.old, change.new
    if (
        change.operation == UPDATE
        and old is not None
        and new is not None
        and table.has_key_in(old)
        and table.key_of(old) != table.key_of(new)
    ):
        new_key, old_key = table.key_of(new), table.key_of(old)
        yield replace(change, operation=DELETE, new=None, other_key=new_key)
        yield replace(change, operation=CREATE, other_key=old_key)
    else:
        yield change
