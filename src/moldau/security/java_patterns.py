"""Regular expressions of Java, as far as rules for names need them, without surprises in time.

What strangers chose is matched against them, so nothing may take longer than the product of
both lengths. The pattern becomes a small program, whose paths are tried in Java's order; a place
in it that was reached at a place in the text before is not tried again, since nothing that
follows could end otherwise. That holds without references back and looks around, and with
possessive quantifiers it would not: these are refused.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

_PROGRAM_MAX = 5_000
_REPEAT_MAX = 1_000
# Java's dot does not match what ends a line.
_ANY_CHARACTER = r"[^\n\r\x85\u2028\u2029]"
_KEPT_ESCAPES = frozenset("dDwWsStnrfa")
_QUANTIFIER = re.compile(r"(?:([*+?])|\{(\d{1,4})(?:(,)(\d{1,4})?)?\})([?+])?")
_GROUP_NAME = re.compile(r"\?<([a-zA-Z][a-zA-Z0-9]*)>")
_UNICODE_ESCAPE = re.compile(r"u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}")


class PatternError(ValueError):
    """The pattern is wrong, or has something that is not understood here."""


class Instruction(NamedTuple):
    """A step: places of the program are counted from it."""

    kind: str
    """`char`, `split`, `jump`, `save`, `begin`, `end`."""
    first: int = 0
    second: int = 0
    accepts: Callable[[str, int], object] | None = None


Program = list[Instruction]
Spans = tuple[int, ...]
"""Start and end of the whole and of each group; -1 for a group that took no part."""


class JavaPattern:
    """A pattern that is ready to match."""

    def __init__(self, text: str) -> None:
        """PatternError for what is wrong, or not understood."""
        parser = _Parser(text)
        self._program = parser.program()
        self.group_count = parser.group_count
        self.group_names = parser.group_names

    def matches(self, text: str) -> bool:
        """Whether the pattern fits all of a text."""
        return self._run(text, 0, set(), is_whole=True) is not None

    def find(self, text: str, start: int) -> Spans | None:
        """The first place from `start` on that it fits."""
        seen: set[int] = set()  # for all of them: what led to nothing still does
        for place in range(start, len(text) + 1):
            spans = self._run(text, place, seen, is_whole=False)
            if spans is not None:
                return spans
        return None

    def _run(self, text: str, start: int, seen: set[int], *, is_whole: bool) -> Spans | None:
        program, end, width = self._program, len(text), len(text) + 1
        spans: Spans = (start, -1) + (-1, -1) * self.group_count
        paths: list[tuple[int, int, Spans]] = [(0, start, spans)]
        while paths:
            place, position, spans = paths.pop()
            while place * width + position not in seen:
                seen.add(place * width + position)
                if place == len(program):
                    if is_whole and position < end:
                        break
                    return (start, position, *spans[2:])
                step = program[place]
                if step.kind == "char":
                    assert step.accepts is not None
                    if position == end or not step.accepts(text, position):
                        break
                    position += 1
                elif step.kind == "split":
                    paths.append((place + step.second, position, spans))
                    place += step.first
                    continue
                elif step.kind == "jump":
                    place += step.first
                    continue
                elif step.kind == "save":
                    spans = (*spans[: step.first], position, *spans[step.first + 1 :])
                elif position != (0 if step.kind == "begin" else end):
                    break
                place += 1
        return None


class _Parser:
    """Turns a pattern into its program, from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._flags = re.ASCII
        self.group_count = 0
        self.group_names: dict[str, int] = {}

    def program(self) -> Program:
        if self._text.startswith("(?i)"):
            self._position = 4
            self._flags |= re.IGNORECASE
        program = self._alternatives()
        if self._position < len(self._text):
            raise PatternError("a ) without its (")
        return program

    def _alternatives(self) -> Program:
        found = [self._sequence()]
        while self._next_is("|"):
            found.append(self._sequence())
        program = found.pop()
        while found:
            first = found.pop()
            program = [
                Instruction("split", 1, len(first) + 2),
                *first,
                Instruction("jump", len(program) + 1),
                *program,
            ]
        return _checked(program)

    def _sequence(self) -> Program:
        program: Program = []
        while self._position < len(self._text) and self._text[self._position] not in "|)":
            program += self._quantified(self._atom())
        return _checked(program)

    def _quantified(self, atom: Program) -> Program:
        match = _QUANTIFIER.match(self._text, self._position)
        if match is None:
            return atom
        self._position = match.end()
        if match[5] == "+":
            raise PatternError(f"{match[0]}: possessive quantifiers are not supported")
        is_lazy = match[5] == "?"
        low, high = _bounds(match)
        program = atom * low
        if high is None:
            return _checked(program + _split(atom, is_lazy, is_repeated=True))
        optional: Program = []
        for _ in range(high - low):
            optional = _split(atom + optional, is_lazy, is_repeated=False)
            _checked(optional)
        return _checked(program + optional)

    def _atom(self) -> Program:
        char = self._take()
        match char:
            case "(":
                return self._group()
            case "[":
                return [self._char(self._character_class())]
            case ".":
                return [self._char(_ANY_CHARACTER)]
            case "^":
                return [Instruction("begin")]
            case "$":
                return [Instruction("end")]
            case "\\":
                return self._escape()
            case "*" | "+" | "?":
                raise PatternError(f"{char} behind nothing")
            case _:
                return [self._char(re.escape(char))]

    def _group(self) -> Program:
        if self._next_is("?:"):
            return self._closed(self._alternatives())
        named = _GROUP_NAME.match(self._text, self._position)
        if named is None and self._text.startswith("?", self._position):
            raise PatternError("of groups with (? only (?: and (?<name> are supported")
        self.group_count += 1
        slot = 2 * self.group_count
        if named is not None:
            self._position = named.end()
            self.group_names[named[1]] = self.group_count
        inner = self._closed(self._alternatives())
        return [Instruction("save", slot), *inner, Instruction("save", slot + 1)]

    def _closed(self, inner: Program) -> Program:
        if not self._next_is(")"):
            raise PatternError("a ( without its )")
        return inner

    def _escape(self) -> Program:
        if self._next_is("Q"):
            end = self._text.find("\\E", self._position)
            quoted = self._text[self._position : None if end < 0 else end]
            self._position = len(self._text) if end < 0 else end + 2
            return _checked([self._char(re.escape(char)) for char in quoted])
        if self._next_is("A"):
            return [Instruction("begin")]
        if self._next_is("z"):
            return [Instruction("end")]
        return [self._char(self._escaped_character())]

    def _escaped_character(self) -> str:
        """What stands for a character behind a backslash, as Python writes it."""
        coded = _UNICODE_ESCAPE.match(self._text, self._position)
        if coded is not None:
            self._position = coded.end()
            return f"\\{coded[0]}"
        char = self._take()
        if char in _KEPT_ESCAPES:
            return f"\\{char}"
        if char.isalnum():
            raise PatternError(f"\\{char} is not supported")
        return re.escape(char)

    def _character_class(self) -> str:
        written = "[^" if self._next_is("^") else "["
        begin = len(written)
        while not (self._text.startswith("]", self._position) and len(written) > begin):
            char = self._take()
            if char == "[" or (char == "&" and self._text.startswith("&", self._position)):
                raise PatternError("classes within classes are not supported")
            if char == "\\":
                written += self._escaped_character()
            else:
                written += char if char == "-" else re.escape(char)
        self._take()
        return f"{written}]"

    def _char(self, atom: str) -> Instruction:
        try:
            accepts = re.compile(atom, self._flags).match
        except re.error as error:
            raise PatternError(f"{atom}: {error}") from None
        return Instruction("char", accepts=accepts)

    def _next_is(self, text: str) -> bool:
        is_next = self._text.startswith(text, self._position)
        self._position += len(text) * is_next
        return is_next

    def _take(self) -> str:
        if self._position == len(self._text):
            raise PatternError("it ends too early")
        self._position += 1
        return self._text[self._position - 1]


def _bounds(match: re.Match[str]) -> tuple[int, int | None]:
    """How often at least and at most; None is without end."""
    if match[1] is not None:
        return {"*": (0, None), "+": (1, None), "?": (0, 1)}[match[1]]
    low = int(match[2])
    if match[3] is None:
        high: int | None = low
    else:
        high = int(match[4]) if match[4] else None
    if max(low, high or 0) > _REPEAT_MAX or (high is not None and high < low):
        raise PatternError(f"{match[0]} is out of bounds")
    return low, high


def _split(inner: Program, is_lazy: bool, *, is_repeated: bool) -> Program:
    """What may be left out; lazily, what is tried first is to leave it out."""
    behind = len(inner) + 1 + is_repeated
    first, second = (behind, 1) if is_lazy else (1, behind)
    again = [Instruction("jump", -len(inner) - 1)] if is_repeated else []
    return [Instruction("split", first, second), *inner, *again]


def _checked(program: Program) -> Program:
    if len(program) > _PROGRAM_MAX:
        raise PatternError("it is too large")
    return program
