"""Keys and values of registered schemas, read by a registry: as JSON, or why they are not."""

import asyncio
import time

from moldau.client.registry import RegistryError, schema_id_of
from moldau.client.serdes.registered import RegisteredValues

_SHOWN_CHARACTERS = 1 << 20
_READ_BYTES_MAX = 1 << 20  # of Protobuf, messages of two bytes become objects
_FAILURES_MAX = 3
_WAIT_S = 6.0
_SLOW_S, _SLOW_ALL_S = 0.05, 3.0
_OF_THE_SCHEMA = (RegistryError, ImportError)
_OF_THE_VALUE = (ValueError, RecursionError)


async def by_schema(values: RegisteredValues, data: bytes) -> dict[str, object] | None:
    """What a registry makes of a key or a value; None if it names no schema."""
    schema_id = _schema_of(data)
    if schema_id is None:
        return None
    try:
        # A registry is asked by a plain function, which would hold up everybody.
        async with asyncio.timeout(_WAIT_S):
            return await asyncio.to_thread(_decoded, values, schema_id, data)
    except TimeoutError:
        return _failed(schema_id, f"it was not decoded within {_WAIT_S:g} s")
    except (*_OF_THE_SCHEMA, *_OF_THE_VALUE) as error:
        return _failed(schema_id, str(error))


def _schema_of(data: bytes) -> int | None:
    try:
        return schema_id_of(data)
    except ValueError:
        return None


def _failed(schema_id: int, why: str) -> dict[str, object]:
    return {"schema": schema_id, "error": why}


def _decoded(values: RegisteredValues, schema_id: int, data: bytes) -> dict[str, object]:
    if len(data) > _READ_BYTES_MAX:
        raise ValueError("more than 1 MiB is not decoded here: download it")
    kind, text = values.kind_of(data), values.text(data)
    found: dict[str, object] = {"schema": schema_id, "format": kind}
    if len(text) > _SHOWN_CHARACTERS:
        found["is_cut"] = True
    return {**found, "text": text[:_SHOWN_CHARACTERS]}


class ListedValues:
    """Reads many values, in a thread; a registry that fails is left alone.

    So are schemas whose values take long, as some are made to do: each is bounded, but there may
    be many.
    """

    def __init__(self, values: RegisteredValues) -> None:
        self._values = values
        self._failed: dict[int, dict[str, object]] = {}
        self._failures = 0
        self._slow_s: dict[int, float] = {}

    def read(self, data: bytes) -> dict[str, object] | None:
        """What a registry makes of a value; None if it names no schema."""
        schema_id = _schema_of(data)
        if schema_id is None:
            return None
        if schema_id in self._failed:
            return self._failed[schema_id]
        if self._failures >= _FAILURES_MAX:
            return None
        began_s = time.monotonic()
        try:
            return _decoded(self._values, schema_id, data)
        except _OF_THE_SCHEMA as error:
            self._failures += 1
            self._failed[schema_id] = _failed(schema_id, str(error))
            return self._failed[schema_id]
        except _OF_THE_VALUE as error:
            return _failed(schema_id, str(error))
        finally:
            self._note(schema_id, time.monotonic() - began_s)

    def _note(self, schema_id: int, spent_s: float) -> None:
        if spent_s < _SLOW_S:
            return
        self._slow_s[schema_id] = self._slow_s.get(schema_id, 0.0) + spent_s
        if self._slow_s[schema_id] > _SLOW_ALL_S:
            why = "others of this schema took too long: open the record to decode it"
            self._failed.setdefault(schema_id, _failed(schema_id, why))
