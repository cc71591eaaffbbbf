"""What a client without rights was answered by Apache Kafka 3.9, and what of it is compared."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from moldau.protocol.schema import fields_of

RECORDED = Path(__file__).with_name("apache-3.9-denials.jsonl")


def recorded() -> list[tuple[str, int, str, list[list[object]] | None]]:
    """API, line of the table, name asked for, and what was told; None for a closed connection."""
    rows = map(json.loads, RECORDED.read_text().splitlines())
    return [(row["api"], row["line"], row["name"], row["told"]) for row in rows]


def told(answer: Any, name: str) -> list[list[object]] | None:
    """The errors of an answer, the texts of names, and the operations, in their order."""
    if answer is None:
        return None
    return [
        [field, value]
        for field, value in values_in(answer)
        if field.endswith(("error_code", "authorized_operations")) or value == name
    ]


def values_in(message: Any) -> Iterator[tuple[str, Any]]:
    """All fields of a message that are no messages themselves."""
    for field in fields_of(type(message)):
        value = getattr(message, field.name)
        for each in value if isinstance(value, list) else [value]:
            if field.struct is None:
                yield field.name, each
            elif each is not None:
                yield from values_in(each)
