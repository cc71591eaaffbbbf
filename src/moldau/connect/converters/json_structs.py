"""Structs as text of JSON, by their schema: what happens for every field that is written.

This file runs as it stands and is also compiled as `_json_structs`, see records/kernel.py. What a
field's value becomes in JSON, `json_writers.py` says.
"""

from collections.abc import Callable, Sequence

from moldau.connect.converters.json_text import json_text, quoted
from moldau.connect.data.record import FixedStruct


class FieldWriter:
    """How a field is written."""

    def __init__(
        self,
        name: str,
        default: object,
        inner: Callable[[object], object] | None,
        struct: "StructWriter | None",
    ) -> None:
        """`default` and what `inner` gives are as JSON has them; `struct` is for structs."""
        self.name = name
        self.default = json_text(default)
        self.inner = inner
        self.struct = struct


class StructWriter:
    """Writes structs of one schema."""

    def __init__(self, fields: Sequence[FieldWriter]) -> None:
        self.fields = list(fields)
        self.starts = [f"{',' if at else '{'}{quoted(e.name)}:" for at, e in enumerate(fields)]
        self.last: object = None
        self.last_text = ""

    def text(self, value: object) -> str:
        """A struct, which is not null."""
        parts: list[str] = []
        self.add(value, parts)
        return "".join(parts)

    def add(self, value: object, parts: list[str]) -> None:
        """Put the parts of its text behind others."""
        if type(value) is FixedStruct:
            if value is not self.last:
                own: list[str] = []
                self.add_fields(dict(value), own)
                self.last, self.last_text = value, "".join(own)
            parts.append(self.last_text)
            return
        assert isinstance(value, dict), f"a struct, and not {value!r}"
        # Compiled, it takes no subclass.
        self.add_fields(value if type(value) is dict else dict(value), parts)

    def add_fields(self, value: dict[str, object], parts: list[str]) -> None:
        """Each with its name."""
        at = 0
        for field in self.fields:
            parts.append(self.starts[at])
            at += 1
            found = value.get(field.name)
            if found is None:
                parts.append(field.default)
            elif field.struct is not None:
                field.struct.add(found, parts)
            else:
                if field.inner is not None:
                    found = field.inner(found)
                if type(found) is str:
                    parts.append(quoted(found))
                elif type(found) is int:
                    parts.append(str(found))
                else:
                    parts.append(json_text(found))
        parts.append("}" if at else "{}")
