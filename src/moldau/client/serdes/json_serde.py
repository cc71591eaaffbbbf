"""Values in JSON, alone or with the header of a schema registry."""

import json
from collections.abc import Sequence

from moldau.client.registry import Reference, Registry, Schema, body_of, header_for


class JsonSerde:
    """Whatever JSON can say; times and the like become text.

    With a registry, values have its header; what is written is registered under `subject`, with
    the JSON Schema that is given, and `references` to others that it uses. Values are not
    checked against it.
    """

    def __init__(
        self,
        schema: str | dict[str, object] | None = None,
        *,
        registry: Registry | None = None,
        subject: str | None = None,
        references: Sequence[Reference] = (),
    ) -> None:
        text = schema if isinstance(schema, str) else json.dumps(schema or {})
        self._schema = Schema(text, "JSON", tuple(references))
        self._registry = registry
        self._subject = subject

    def register(self) -> None:
        """Have the schema registered now, not with the first value that is written."""
        self._header()

    def serialize(self, value: object) -> bytes:
        """The text of a value, without spaces."""
        text = json.dumps(value, default=str, separators=(",", ":"))
        return self._header() + text.encode()

    def deserialize(self, data: bytes) -> object:
        """The value of a text; ValueError if it is none."""
        found: object = json.loads(data if self._registry is None else body_of(data))
        return found

    def _header(self) -> bytes:
        return header_for(self._registry, self._subject, self._schema)


JSON = JsonSerde()
