"""Records to lines, by the properties of Apache's console consumer."""

from collections.abc import Iterable, Mapping
from typing import Protocol

from moldau.cli.record_text.deserializers import Deserializer, find_deserializer
from moldau.cli.terminal.failure import CommandFailed
from moldau.client.record import ConsumerRecord

Record = ConsumerRecord[bytes, bytes]

_DEFAULT = "DefaultMessageFormatter"
# The second also logs each record, at a level that Apache's tools do not show.
_DEFAULTS = (_DEFAULT, "LoggingMessageFormatter")
_SHORT_NAMES = ("kafka.tools.", "org.apache.kafka.tools.consumer.")


class Formatter(Protocol):
    """Turns records into what is printed of them."""

    def write(self, records: Iterable[Record]) -> bytes:
        """The bytes of these records, each with the end of its line."""


def find_formatter(class_name: str, properties: Mapping[str, str]) -> Formatter:
    """The formatter that a Java class name stands for."""
    short = class_name or _DEFAULT
    for prefix in _SHORT_NAMES:
        short = short.removeprefix(prefix)
    if short in _DEFAULTS:
        formatter = DefaultFormatter(properties)
        return ValueFormatter() if formatter.is_values_only else formatter
    if short == "NoOpMessageFormatter":
        return SilentFormatter()
    from moldau.cli.record_text.internal_topics import find_internal_formatter  # noqa: PLC0415

    found = find_internal_formatter(short)
    if found is None:
        raise CommandFailed(f"there is no message formatter {class_name}")
    return found


class ValueFormatter:
    """Values alone, each on its line: what most people want, and the quickest."""

    def write(self, records: Iterable[Record]) -> bytes:
        values = [b"null" if record.value is None else record.value for record in records]
        values.append(b"")
        return b"\n".join(values)


class SilentFormatter:
    """Nothing at all, for measurements."""

    def write(self, records: Iterable[Record]) -> bytes:
        for _ in records:
            pass
        return b""


class DefaultFormatter:
    """The parts that are asked for, in the order time, partition, offset, headers, key, value."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        self._properties = properties
        self._timestamp = self._is_on("print.timestamp")
        self._partition = self._is_on("print.partition")
        self._offset = self._is_on("print.offset")
        self._headers = self._is_on("print.headers")
        self._key = self._is_on("print.key")
        self._value = self._is_on("print.value", "true")
        self._separator = self._text("key.separator", "\t")
        self._line_end = self._text("line.separator", "\n")
        self._headers_separator = self._text("headers.separator", ",")
        self._null = self._text("null.literal", "null")
        self._read_key = self._deserializer("key.deserializer")
        self._read_value = self._deserializer("value.deserializer")
        self._read_header = self._deserializer("headers.deserializer") or self._deserializer(
            "header.deserializer"
        )
        self.timestamp_types: Mapping[str, str] = {}
        """Topics whose times are not those of their producers, with their type."""

    @property
    def is_values_only(self) -> bool:
        """Whether a line is the value and nothing else."""
        shows = (self._timestamp, self._partition, self._offset, self._headers, self._key)
        is_usual = self._line_end == b"\n" and self._null == b"null" and self._value
        return not any(shows) and is_usual and self._read_value is None

    @property
    def shows_timestamps(self) -> bool:
        """Whether the type of a topic's times must be known."""
        return self._timestamp

    def write(self, records: Iterable[Record]) -> bytes:
        line_end, separator = self._line_end, self._separator
        return b"".join(separator.join(self._parts(record)) + line_end for record in records)

    def _parts(self, record: Record) -> list[bytes]:
        parts: list[bytes] = []
        if self._timestamp:
            parts.append(self._time(record))
        if self._partition:
            parts.append(b"Partition:%d" % record.partition)
        if self._offset:
            parts.append(b"Offset:%d" % record.offset)
        if self._headers:
            parts.append(self._headers_text(record))
        if self._key:
            parts.append(self._shown(record.key, self._read_key))
        if self._value:
            parts.append(self._shown(record.value, self._read_value))
        return parts

    def _time(self, record: Record) -> bytes:
        if record.timestamp < 0:
            return b"NO_TIMESTAMP"
        kind = self.timestamp_types.get(record.topic, "CreateTime")
        return f"{kind}:{record.timestamp}".encode()

    def _headers_text(self, record: Record) -> bytes:
        if not record.headers:
            return b"NO_HEADERS"
        return self._headers_separator.join(
            name.encode() + b":" + self._shown(value, self._read_header)
            for name, value in record.headers
        )

    def _shown(self, data: bytes | None, read: Deserializer | None) -> bytes:
        if data is None:
            return self._null
        return data if read is None else read(data)

    def _is_on(self, name: str, default: str = "false") -> bool:
        return self._properties.get(name, default).strip().lower() == "true"

    def _text(self, name: str, default: str) -> bytes:
        return self._properties.get(name, default).encode()

    def _deserializer(self, name: str) -> Deserializer | None:
        class_name = self._properties.get(name, "")
        return find_deserializer(class_name) if class_name else None
