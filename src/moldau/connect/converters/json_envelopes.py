"""The envelope of the last value: neighbours have the same schema, in the same words.

A schema is many times longer than what it is about. It is read once, and recognised by its text;
whatever is written otherwise is read as any JSON.
"""

import json
import re

from moldau.connect.data.schema import Schema

_BEGINS = re.compile(r'\s*\{\s*"schema"\s*:\s*')
_PAYLOAD = re.compile(r'\s*,\s*"payload"\s*:')
_ENDS = b"}"
_SPACE = " \t\n\r"
_decoder = json.JSONDecoder()


class LastEnvelope:
    """Recognises values whose text begins as that of the last one."""

    def __init__(self) -> None:
        self._prefix = b""
        self._schema: Schema | None = None

    @property
    def known(self) -> tuple[bytes, Schema] | None:
        """How values with a schema begin, and the schema; None if that is not known."""
        return None if self._schema is None or not self._prefix else (self._prefix, self._schema)

    def of(self, data: bytes) -> tuple[Schema | None, object] | None:
        """The schema, and the payload; None if it has to be read as a whole."""
        prefix = self._prefix
        if not prefix or not data.startswith(prefix) or not data.endswith(_ENDS):
            return None
        try:
            text = data[len(prefix) : -len(_ENDS)].decode().strip(_SPACE)
            payload, end = _decoder.raw_decode(text)
        except ValueError:
            return None
        # None if there is something behind the payload.
        return (self._schema, payload) if end == len(text) else None

    def note(self, data: bytes, schema: Schema | None) -> None:
        """Remember how what was read as a whole begins, if the payload comes last."""
        self._prefix = b""
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return  # JSON may be UTF-16
        begins = _BEGINS.match(text)
        if begins is None:
            return
        _, end = _decoder.raw_decode(text, begins.end())
        payload = _PAYLOAD.match(text, end)
        if payload is not None:
            self._prefix = text[: payload.end()].encode()
            self._schema = schema
