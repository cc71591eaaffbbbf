"""Lines of text to records, by the properties of Apache's console producer."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from moldau.cli.terminal.failure import CommandFailed

LINE_READERS = (
    "kafka.tools.ConsoleProducer$LineMessageReader",
    "org.apache.kafka.tools.LineMessageReader",
)

Headers = tuple[tuple[str, bytes | None], ...]


class ParsedLine(NamedTuple):
    """A record to be sent."""

    key: bytes | None
    value: bytes | None
    headers: Headers = ()


class LineReader:
    """Splits lines into headers, key and value.

    A line is `headers DELIMITER key SEPARATOR value`, of which headers and key are there only
    if they are asked for. Bytes are passed on as they are.
    """

    def __init__(self, properties: Mapping[str, str]) -> None:
        def switch(name: str) -> bool:
            return properties.get(name, "false").strip().lower() == "true"

        def text(name: str, default: str) -> bytes:
            return properties.get(name, default).encode()

        self._parses_key = switch("parse.key")
        self._parses_headers = switch("parse.headers")
        self._ignores_errors = switch("ignore.error")
        self._key_separator = text("key.separator", "\t")
        self._headers_delimiter = text("headers.delimiter", "\t")
        self._headers_separator = text("headers.separator", ",")
        self._header_key_separator = text("headers.key.separator", ":")
        self._null_marker = text("null.marker", "") or None
        self._number = 0
        self._check()

    @property
    def is_plain(self) -> bool:
        """Whether every line is a value and nothing else."""
        return not (self._parses_key or self._parses_headers or self._null_marker)

    def parse(self, line: bytes) -> ParsedLine:
        """The record of one line; CommandFailed if it has not the parts it must have."""
        self._number += 1
        headers_text = key = None
        rest = line
        if self._parses_headers:
            headers_text, rest = self._split(rest, self._headers_delimiter, "headers delimiter")
        if self._parses_key:
            key, rest = self._split(rest, self._key_separator, "key separator")
        headers = tuple(self._headers(headers_text)) if headers_text else ()
        return ParsedLine(self._nullable(key), self._nullable(rest), headers)

    def _split(self, text: bytes, separator: bytes, name: str) -> tuple[bytes | None, bytes]:
        found, middle, rest = text.partition(separator)
        if middle:
            return found, rest
        if self._ignores_errors:
            return None, text
        shown = text.decode(errors="replace")
        raise CommandFailed(f"No {name} found on line number {self._number}: '{shown}'")

    def _headers(self, text: bytes) -> Iterator[tuple[str, bytes | None]]:
        if text == self._null_marker:
            return
        for pair in text.split(self._headers_separator):
            key, middle, value = pair.partition(self._header_key_separator)
            if not middle and not self._ignores_errors:
                shown = pair.decode(errors="replace")
                raise CommandFailed(
                    f"No header key separator found in pair '{shown}' on line number {self._number}"
                )
            if key == self._null_marker:
                shown = pair.decode(errors="replace")
                raise CommandFailed(
                    f"Header keys should not be equal to the null marker, which "
                    f"'{shown}' on line number {self._number} is"
                )
            yield key.decode(errors="replace"), self._nullable(value) if middle else None

    def _nullable(self, part: bytes | None) -> bytes | None:
        return None if part is None or part == self._null_marker else part

    def _check(self) -> None:
        parts = {
            "headers.delimiter": self._headers_delimiter,
            "headers.separator": self._headers_separator,
            "headers.key.separator": self._header_key_separator,
        }
        if self._parses_headers and len(set(parts.values())) < len(parts):
            names = ", ".join(parts)
            raise CommandFailed(f"{names} must differ from one another")
        if self._null_marker and self._null_marker in (self._key_separator, *parts.values()):
            raise CommandFailed("null.marker must not be a separator as well")


_LINE_END = re.compile(rb"\r\n|\n|\r")


class LineSplitter:
    """Cuts bytes as they come into lines that end in \\n, \\r\\n or \\r."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that are complete now."""
        data = self._rest + data
        # A \r at the very end may be the first half of a \r\n.
        end = data.rfind(b"\n") + 1
        if not end and b"\r" in data[:-1]:
            end = data.rfind(b"\r", 0, len(data) - 1) + 1
        self._rest = data[end:]
        if not end:
            return []
        if b"\r" in data[:end]:
            return _LINE_END.split(data[:end])[:-1]
        return data[: end - 1].split(b"\n")

    def end(self) -> list[bytes]:
        """What is left at the end of the input."""
        rest, self._rest = self._rest, b""
        return rest.splitlines()
