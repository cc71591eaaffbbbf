"""Java's `.properties` text: key and value per line, as `java.util.Properties` reads it.

A natural line ends at \\n, \\r or \\r\\n. Blank lines, and lines whose first character is `#`
or `!`, are skipped. A line that ends in an odd number of backslashes goes on in the next,
whose leading blanks are dropped. The key ends at the first unescaped `=`, `:` or blank;
around it blanks and one separator are dropped. `\\t \\n \\r \\f` and `\\uXXXX` are escapes; a
backslash before any other character only stands for that character.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from moldau.config.values import config_error


def parse_properties(text: str) -> dict[str, str]:
    """Every key with its value; of a key given twice the last one counts."""
    return dict(map(_key_and_value, _logical_lines(text)))


def decode_properties(data: bytes) -> dict[str, str]:
    """Like `parse_properties`, from a file's bytes.

    Java reads them as Latin-1; a file in UTF-8, which people write, is taken as such.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return parse_properties(text)


def format_properties(values: Mapping[str, str], comments: Iterable[str] = ()) -> str:
    """The text that reads back as `values`, in their order."""
    lines = [f"#{comment}" for comment in comments]
    lines += [f"{_escape(key, ' ')}={_escape_value(value)}" for key, value in values.items()]
    return "".join(f"{line}\n" for line in lines)


def parse_overrides(arguments: Iterable[str]) -> dict[str, str]:
    """The settings in `key=value` arguments, as `--override` takes them."""
    overrides = {}
    for argument in arguments:
        key, equals, value = argument.partition("=")
        if not equals or not key.strip():
            raise config_error(f"Invalid override {argument}: must be key=value")
        overrides[key.strip()] = value
    return overrides


_BLANKS = " \t\f"
_LINE_END = re.compile(r"\r\n|\n|\r")
_KEY = re.compile(r"(?:\\.|[^\\=: \t\f])*", re.DOTALL)
_SEPARATOR = re.compile(r"[ \t\f]*[=:]?[ \t\f]*")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.|$)", re.DOTALL)
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_TO_ESCAPES = {character: f"\\{letter}" for letter, character in _ESCAPES.items()}


def _logical_lines(text: str) -> Iterator[str]:
    pending: str | None = None
    for natural in _LINE_END.split(text):
        line = natural.lstrip(_BLANKS)
        # While nothing has come before it, a continuation is a line like any other.
        if not pending and (not line or line[0] in "#!"):
            pending = None
            continue
        line = (pending or "") + line
        pending = line[:-1] if _is_continued(line) else None
        if pending is None:
            yield line
    if pending is not None:
        yield pending


def _is_continued(line: str) -> bool:
    backslashes = len(line) - len(line.rstrip("\\"))
    return backslashes % 2 == 1


def _key_and_value(line: str) -> tuple[str, str]:
    key_match = _KEY.match(line)
    assert key_match is not None, "the pattern matches the empty string"
    separator = _SEPARATOR.match(line, key_match.end())
    assert separator is not None, "the pattern matches the empty string"
    return _unescape(key_match.group()), _unescape(line[separator.end() :])


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    plain = _ESCAPE.sub(_unescape_one, text)
    # Characters beyond the basic plane are written as two escapes, a surrogate pair.
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unescape_one(match: re.Match[str]) -> str:
    escaped = match.group(1)
    if len(escaped) == 5:
        return chr(int(escaped[1:], 16))
    if escaped == "u":
        raise config_error(f"\\u must be followed by 4 hexadecimal digits in {match.string!r}")
    return _ESCAPES.get(escaped, escaped)


def _escape_value(value: str) -> str:
    body = value.lstrip(" ")
    return "\\ " * (len(value) - len(body)) + _escape(body, "")


def _escape(text: str, also: str) -> str:
    return "".join(_escape_one(character, also) for character in text)


def _escape_one(character: str, also: str) -> str:
    if character in _TO_ESCAPES:
        return _TO_ESCAPES[character]
    if character in "\\=:#!" or character in also:
        return f"\\{character}"
    if " " <= character <= "~":
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02X}{units[i + 1]:02X}" for i in range(0, len(units), 2))
