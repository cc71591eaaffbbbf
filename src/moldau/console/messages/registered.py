"""Keys and values of registered schemas, read by a registry: as JSON, or why they are not."""

import asyncio

from moldau.client.registry import RegistryError, schema_id_of
from moldau.client.serdes.registered import RegisteredValues

_SHOWN_CHARACTERS = 1 << 20


async def by_schema(values: RegisteredValues, data: bytes) -> dict[str, object] | None:
    """What a registry makes of a key or a value; None if it names no schema."""
    try:
        schema_id = schema_id_of(data)
    except ValueError:
        return None
    try:
        # A registry is asked by a plain function, which would hold up everybody.
        kind, text = await asyncio.to_thread(lambda: (values.kind_of(data), values.text(data)))
    except (RegistryError, ValueError, ImportError, RecursionError) as error:
        return {"schema": schema_id, "error": str(error)}
    found: dict[str, object] = {"schema": schema_id, "format": kind}
    if len(text) > _SHOWN_CHARACTERS:
        found["is_cut"] = True
    return {**found, "text": text[:_SHOWN_CHARACTERS]}
