"""Applies one transformation, as settings name it."""

from moldau.connect.data.record import ConnectRecord, Datum
from moldau.connect.data.schema import Schema
from moldau.connect.transforms.chain import TransformationChain


def chain(kind: str, **settings: str) -> TransformationChain:
    """A chain of one; `a_b` stands for `a.b`."""
    named = {f"transforms.t.{name.replace('_', '.')}": text for name, text in settings.items()}
    return TransformationChain({"transforms": "t", "transforms.t.type": kind, **named})


def changed(
    kind: str, value: object, schema: Schema | None = None, **settings: str
) -> Datum | None:
    """The value that comes out."""
    record = ConnectRecord(
        "topic", value=Datum(value, schema), timestamp_ms=0, partition=1, offset=5
    )
    found = chain(kind, **settings).apply(record)
    return None if found is None else found.value
