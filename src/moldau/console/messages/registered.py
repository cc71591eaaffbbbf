"""Keys and values of registered schemas, read by a registry: as JSON, or why they are not."""

import asyncio

from moldau.client.registry import RegistryError, schema_id_of
from moldau.client.serdes.registered import RegisteredValues

_SHOWN_CHARACTERS = 1 << 20
_READ_BYTES_MAX = 1 << 20  # of Protobuf, messages of two bytes become objects
_FAILURES_MAX = 3


async def by_schema(values: RegisteredValues, data: bytes) -> dict[str, object] | None:
    """What a registry makes of a key or a value; None if it names no schema."""
    # A registry is asked by a plain function, which would hold up everybody.
    return await asyncio.to_thread(_read, values, data)


def _read(values: RegisteredValues, data: bytes) -> dict[str, object] | None:
    try:
        schema_id = schema_id_of(data)
    except ValueError:
        return None
    if len(data) > _READ_BYTES_MAX:
        return {"schema": schema_id, "error": "more than 1 MiB is not decoded here: download it"}
    try:
        kind, text = values.kind_of(data), values.text(data)
    except (RegistryError, ValueError, ImportError, RecursionError) as error:
        return {"schema": schema_id, "error": str(error)}
    found: dict[str, object] = {"schema": schema_id, "format": kind}
    if len(text) > _SHOWN_CHARACTERS:
        found["is_cut"] = True
    return {**found, "text": text[:_SHOWN_CHARACTERS]}


class ListedValues:
    """Reads many values, in a thread; a registry that fails is left alone."""

    def __init__(self, values: RegisteredValues) -> None:
        self._values = values
        self._failed: dict[object, dict[str, object]] = {}

    def read(self, data: bytes) -> dict[str, object] | None:
        """What a registry makes of a value; None if it names no schema."""
        try:
            schema_id = schema_id_of(data)
        except ValueError:
            return None
        if schema_id in self._failed:
            return self._failed[schema_id]
        if len(self._failed) >= _FAILURES_MAX:
            return None
        found = _read(self._values, data)
        if found is not None and "error" in found:
            self._failed[schema_id] = found
        return found
