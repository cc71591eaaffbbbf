"""Records that Python functions fail on, as workers handle them.

Dead letters are written there and then, at least once: a micro-batch that is repeated writes them
again. Those of sources and sinks are rows like others, and written with them.
"""

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from moldau.client.blocking.producer import Producer
from moldau.streams.errors import SHOWN_BYTES, ErrorPolicy, Failure, StepFailed

_log = logging.getLogger(__name__)

_producers: dict[tuple[tuple[str, str], ...], Producer[bytes, bytes]] = {}
"""Of this worker: failures are few, but may come one after the other."""


class LetterBox(Protocol):
    """Where workers put dead letters."""

    def put(
        self, topic: str, key: bytes | None, value: bytes | None, headers: list[tuple[str, bytes]]
    ) -> None: ...


class Tally(Protocol):
    """As Spark's accumulators: added to by workers, read by the driver."""

    def add(self, term: int) -> None: ...


@dataclass(frozen=True, slots=True)
class KafkaLetters:
    """Writes to a cluster."""

    client: tuple[tuple[str, str], ...]

    def put(
        self, topic: str, key: bytes | None, value: bytes | None, headers: list[tuple[str, bytes]]
    ) -> None:
        if self.client not in _producers:
            _producers[self.client] = Producer[bytes, bytes](dict(self.client))
        _producers[self.client].send_and_wait(topic, value, key=key, headers=headers)


@dataclass(frozen=True, slots=True)
class FailedStep:
    """What a step does with records that its functions fail on."""

    name: str
    application: str
    policy: ErrorPolicy
    letters: LetterBox
    failed: Tally

    def handle(
        self, place: Mapping[str, object], key: object, value: object, error: Exception
    ) -> None:
        """Leave the record out, or raise StepFailed."""
        failure = Failure(
            str(place["topic"]),
            int(str(place["partition"])),
            int(str(place["offset"])),
            self.application,
            "TRANSFORMATION",
            self.name,
            type(error).__name__,
            str(error).partition("\n")[0],
        )
        shown = repr(value)[:SHOWN_BYTES]
        if self.policy.on_error == "fail":
            raise StepFailed(failure.line(shown)) from error
        self.failed.add(1)
        if self.policy.dead_letters is not None:
            self.letters.put(
                self.policy.dead_letters, as_letter(key), as_letter(value), failure.headers()
            )
        else:
            _log.warning("Left out: %s", failure.line(shown))


def as_letter(value: object) -> bytes | None:
    """A key or a value as a function got it: text and bytes as they are, the rest as JSON."""
    match value:
        case None:
            return None
        case bytes() | bytearray():
            return bytes(value)
        case str():
            return value.encode()
        case _:
            return json.dumps(value, default=str, ensure_ascii=False).encode()
