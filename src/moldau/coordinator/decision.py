"""What a machine gives back: records to be written, and the reply that goes out after them."""

from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from moldau.log.verification import Guard
from moldau.records.batch import NO_PRODUCER, Producer
from moldau.runtime.clock import Moment

Reply = TypeVar("Reply")
Stored = TypeVar("Stored")


class RecordSource(NamedTuple):
    """Where a record comes from; with a producer it counts when the transaction commits."""

    log_offset: int
    producer_id: int
    moment: Moment


class PendingReply(Generic[Reply]):
    """A reply that is not known yet; the machine fills it in, and reports that it did."""

    __slots__ = ("reply",)

    def __init__(self) -> None:
        self.reply: Reply | None = None


@dataclass(slots=True)
class Decision(Generic[Stored, Reply]):
    """Nothing durable has changed yet: it changes when the records have been appended."""

    reply: Reply
    records: tuple[Stored, ...] | list[Stored] = ()
    # Of records that take effect only when this producer's transaction is committed.
    producer: Producer = NO_PRODUCER
    guard: Guard | None = None
