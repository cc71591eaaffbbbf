"""Rows as stateful steps get them, for tests without a JVM."""

from typing import cast

from pyspark.sql import DataFrame, Row
from pyspark.sql.types import LongType, StringType, StructField, StructType

from moldau.streams.compile.compilation import Mode
from moldau.streams.compile.counters import PlainCounter
from moldau.streams.compile.failures import FailedStep, LetterBox, Tally
from moldau.streams.compile.folding import FoldTask
from moldau.streams.errors import FAILING, ErrorPolicy
from moldau.streams.functions import Folding

TYPES = StructType([StructField("value", StringType()), StructField("millis", LongType())])


def row(offset: int, value: object, millis: int, **more: object) -> Row:
    place = {"topic": "a", "partition": 0, "offset": offset, "steps": []}
    return Row(value=value, millis=millis, place=place, **more)


def joined(_key: object, value: object, so_far: object) -> object:
    return f"{so_far}{value}"


class Letters:
    """Keeps dead letters."""

    def __init__(self) -> None:
        self.letters: list[tuple[str, bytes | None, bytes | None, dict[str, bytes]]] = []

    def put(
        self, topic: str, key: bytes | None, value: bytes | None, headers: list[tuple[str, bytes]]
    ) -> None:
        self.letters.append((topic, key, value, dict(headers)))


def failed_step(policy: ErrorPolicy = FAILING, letters: LetterBox | None = None) -> FailedStep:
    """What a step called `step` does with records that its functions fail on."""
    return FailedStep("step", "app", policy, letters or Letters(), PlainCounter())


def task(
    folding: Folding,
    mode: Mode = "update",
    late: Tally | None = None,
    policy: ErrorPolicy = FAILING,
) -> FoldTask:
    """What a fold is told, but for its frame."""
    step = failed_step(policy)
    return FoldTask(cast("DataFrame", None), folding, mode, step, late or PlainCounter())
