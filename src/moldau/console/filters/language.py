"""Reads the language of filters.

    value.user = "anna" and value.amount > 10
    key contains "order-1" or headers.trace is not null
    value matches "err(or)?" and timestamp >= "2026-11-18T09:00:00Z"
    timeout

A word or a text alone is looked for in keys and values. Fields are key, value, partition, offset,
timestamp and size; `.name` behind key or value goes into JSON, and behind headers to a header.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime

DEPTH_MAX = 50
LENGTH_MAX = 4000
FIELDS = ("key", "value", "headers", "partition", "offset", "timestamp", "size")
NUMBERS = ("partition", "offset", "size")
COMPARISONS = ("=", "!=", "<=", ">=", "<", ">")
SEARCHES = ("contains", "icontains", "startswith", "matches")
Literal = str | int | float | bool | None


class FilterError(ValueError):
    """A filter that cannot be read; says where."""


@dataclass(frozen=True, slots=True)
class TextAnywhere:
    """A text in the key or in the value."""

    text: str


@dataclass(frozen=True, slots=True)
class Condition:
    """A field, what is asked of it, and what it is compared with."""

    field: str
    path: tuple[str, ...]
    operator: str
    literal: Literal


@dataclass(frozen=True, slots=True)
class Not:
    """The records that something does not hold for."""

    part: "Filter"


@dataclass(frozen=True, slots=True)
class Both:
    """Two things that both hold."""

    left: "Filter"
    right: "Filter"


@dataclass(frozen=True, slots=True)
class Either:
    """Two things of which one holds."""

    left: "Filter"
    right: "Filter"


Filter = TextAnywhere | Condition | Not | Both | Either


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    """word, text, number, sign or end."""
    text: str
    position: int


def parse(text: str) -> Filter | None:
    """The filter that a text says; None if it says nothing."""
    if len(text) > LENGTH_MAX:
        raise FilterError(f"a filter has at most {LENGTH_MAX} characters")
    if not text.strip():
        return None
    parser = _Parser(list(_tokens(text)))
    found = parser.either(0)
    parser.expect_end()
    return found


class _Parser:
    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._at = 0

    @property
    def _next(self) -> _Token:
        return self._tokens[self._at]

    def _take(self) -> _Token:
        token = self._next
        self._at += token.kind != "end"
        return token

    def _is_word(self, word: str) -> bool:
        if self._next.kind == "word" and self._next.text.lower() == word:
            self._at += 1
            return True
        return False

    def expect_end(self) -> None:
        if self._next.kind != "end":
            raise _error(self._next, "`and` or `or`")

    def either(self, depth: int) -> Filter:
        found = self._both(depth)
        while self._is_word("or"):
            found = Either(found, self._both(depth))
        return found

    def _both(self, depth: int) -> Filter:
        found = self._single(depth)
        while self._is_word("and"):
            found = Both(found, self._single(depth))
        return found

    def _single(self, depth: int) -> Filter:
        if depth > DEPTH_MAX:
            raise _error(self._next, f"at most {DEPTH_MAX} levels")
        if self._is_word("not"):
            return Not(self._single(depth + 1))
        token = self._take()
        if token.kind == "sign" and token.text == "(":
            found = self.either(depth + 1)
            closing = self._take()
            if closing.text != ")" or closing.kind != "sign":
                raise _error(closing, "`)`")
            return found
        if token.kind in ("text", "number"):
            return TextAnywhere(token.text)
        if token.kind != "word":
            raise _error(token, "a field or a text")
        field, *path = token.text.split(".")
        is_followed = self._next.kind == "sign" and self._next.text in COMPARISONS
        is_asked = self._next.kind == "word" and self._next.text.lower() in (*SEARCHES, "is")
        if field not in FIELDS or not (is_followed or is_asked):
            if is_followed or is_asked:
                raise FilterError(f"there is no field {field}: there are {', '.join(FIELDS)}")
            return TextAnywhere(token.text)
        return self._condition(token, field, tuple(path))

    def _condition(self, token: _Token, field: str, path: tuple[str, ...]) -> Filter:
        if field == "headers" and len(path) != 1 and path:
            path = (".".join(path),)
        if (field == "headers") != bool(path) and field not in ("key", "value"):
            raise _error(token, "headers.NAME" if field == "headers" else "a field without a path")
        operator = self._take().text.lower()
        if operator == "is":
            return self._nothing(field, path)
        value = self._take()
        if value.kind not in ("text", "number", "word"):
            raise _error(value, "a text or a number")
        return Condition(field, path, operator, _literal(field, operator, value))

    def _nothing(self, field: str, path: tuple[str, ...]) -> Filter:
        is_not = self._is_word("not")
        for word in ("null", "empty"):
            if self._is_word(word):
                found = Condition(field, path, f"is {word}", None)
                return Not(found) if is_not else found
        raise _error(self._next, "null or empty")


def _literal(field: str, operator: str, token: _Token) -> Literal:
    if operator in SEARCHES:
        if field in (*NUMBERS, "timestamp"):
            raise _error(token, f"a comparison: {field} is a number")
        return token.text
    if field == "timestamp":
        return _time_ms(token)
    if token.kind == "number":
        return _number(token)
    if field in NUMBERS:
        raise _error(token, "a number")
    if token.kind == "word" and token.text in ("true", "false", "null"):
        return {"true": True, "false": False, "null": None}[token.text]
    return token.text


def _number(token: _Token) -> int | float:
    try:
        return int(token.text)
    except ValueError:
        pass
    try:
        return float(token.text)
    except ValueError:
        raise _error(token, "a number") from None


def _time_ms(token: _Token) -> int:
    if token.kind == "number" and token.text.isdigit():
        return int(token.text)
    try:
        at = datetime.fromisoformat(token.text)
    except ValueError:
        raise _error(token, "a time such as 2026-11-18T09:30:00Z") from None
    if at.tzinfo is None:
        raise _error(token, "a time with its zone, Z or +01:00")
    return int(at.timestamp() * 1000)


def _tokens(text: str) -> Iterator[_Token]:
    at = 0
    while at < len(text):
        letter = text[at]
        if letter.isspace():
            at += 1
            continue
        token = _token(text, at)
        yield token[0]
        at = token[1]
    yield _Token("end", "the end", len(text))


def _token(text: str, at: int) -> tuple[_Token, int]:
    letter = text[at]
    if letter in "\"'":
        return _quoted(text, at)
    for sign in (*COMPARISONS, "(", ")"):
        if text.startswith(sign, at):
            return _Token("sign", sign, at), at + len(sign)
    end = _end_of(text, at, lambda each: not each.isspace() and each not in "()=!<>\"'")
    if end == at:
        raise FilterError(f"{letter!r} at {at + 1} means nothing here")
    word = text[at:end]
    is_number = word.lstrip("+-").replace(".", "", 1).isdigit()
    return _Token("number" if is_number else "word", word, at), end


def _quoted(text: str, start: int) -> tuple[_Token, int]:
    quote, at, found = text[start], start + 1, ""
    while at < len(text):
        if text[at] == "\\" and text[at + 1 : at + 2] in ("\\", quote):
            found += text[at + 1]
            at += 2
        elif text[at] == quote:
            return _Token("text", found, start), at + 1
        else:
            found += text[at]
            at += 1
    raise FilterError(f"the text that begins at {start + 1} does not end")


def _end_of(text: str, at: int, belongs: Callable[[str], bool]) -> int:
    while at < len(text) and belongs(text[at]):
        at += 1
    return at


def _error(token: _Token, wanted: str) -> FilterError:
    return FilterError(f"{wanted} expected at {token.position + 1}, not {token.text}")
