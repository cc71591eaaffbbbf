"""What becomes of records that cannot be read, worked on or written: the policy, and dead letters.

Kafka Streams has a handler of exceptions for each of these places; here one policy is for all,
and sources may have another. Dead letters have the headers of Kafka Connect's.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

OnError = Literal["fail", "continue", "dead-letter"]
"""Stop the query, leave the record out, or write it to a topic of its own and leave it out."""

Stage = Literal["KEY_CONVERTER", "VALUE_CONVERTER", "TRANSFORMATION", "KAFKA_PRODUCE"]
"""Where it happened, in the words of Kafka Connect."""

_PREFIX = "__connect.errors."
HEADER_NAMES = tuple(
    f"{_PREFIX}{name}"
    for name in (
        "topic",
        "partition",
        "offset",
        "connector.name",
        "stage",
        "class.name",
        "exception.class.name",
        "exception.message",
    )
)
SHOWN_BYTES = 80
"""So much of a record stands in messages."""


@dataclass(frozen=True, slots=True)
class ErrorPolicy:
    """What to do, and where dead letters go."""

    on_error: OnError = "fail"
    dead_letters: str | None = None

    def __post_init__(self) -> None:
        if self.on_error not in ("fail", "continue", "dead-letter"):
            raise ValueError(f"on_error is fail, continue or dead-letter, not {self.on_error!r}")
        if (self.on_error == "dead-letter") != (self.dead_letters is not None):
            raise ValueError("on_error='dead-letter' and a topic dead_letters= go together")

    @classmethod
    def of(cls, on_error: OnError | None, dead_letters: str | None) -> "ErrorPolicy | None":
        """What is said at one place, if anything is; a topic alone says enough."""
        if on_error is None and dead_letters is None:
            return None
        return cls(on_error or "dead-letter", dead_letters)


FAILING = ErrorPolicy()


class Failure(NamedTuple):
    """A record that a step failed on: where it came from, and what went wrong."""

    topic: str
    partition: int
    offset: int
    application: str
    stage: Stage
    step: str
    exception: str
    message: str

    def headers(self) -> list[tuple[str, bytes]]:
        """As a dead letter has them."""
        return [(name, str(value).encode()) for name, value in zip(HEADER_NAMES, self, strict=True)]

    def line(self, shown: str) -> str:
        """In one line, with the beginning of the record."""
        where = f"{self.topic}-{self.partition} at offset {self.offset}"
        return f"{self.step} failed on {where} ({shown}): {self.exception}: {self.message}"


class StepFailed(Exception):
    """A function failed on a record, and the policy is to stop."""
