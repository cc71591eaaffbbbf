"""Reading regular expressions, as far as RE2 has them and they matter to names of topics.

A name has only 65 different characters: every class of characters is the set of those of
them that are in it. There are no groups to capture, no lines, and no difference between
greedy and lazy, since only whole names are matched. What RE2 refuses is refused:
back-references, looking around, possessive and very large repetitions.

Any client can send a text, so reading it is bounded: by the text's length, by how many parts
it has, and by how deep they nest.
"""

import re
import string
from collections.abc import Iterable
from dataclasses import dataclass

NAME_CHARACTERS = string.ascii_letters + string.digits + "._-"
WORD = frozenset(string.ascii_letters + string.digits + "_")

_ALL = frozenset(NAME_CHARACTERS)
_NONE: frozenset[str] = frozenset()
_REPEAT_MAX = 1000
_DEPTH_MAX = 100
_PARTS_MAX = 2000
_TEXT_MAX = 5000
_COUNTS = re.compile(r"\{([0-9]+)(?:(,)([0-9]*))?\}")
_CLASSES = {"d": frozenset(string.digits), "w": WORD, "s": _NONE}
_POSIX = {
    "alnum": frozenset(string.ascii_letters + string.digits),
    "alpha": frozenset(string.ascii_letters),
    "digit": frozenset(string.digits),
    "lower": frozenset(string.ascii_lowercase),
    "upper": frozenset(string.ascii_uppercase),
    "punct": frozenset("._-"),
    "word": WORD,
    "xdigit": frozenset(string.hexdigits),
    "ascii": _ALL,
    "graph": _ALL,
    "print": _ALL,
    "blank": _NONE,
    "cntrl": _NONE,
    "space": _NONE,
}
_CONTROLS = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_PLACES = {"A": "start", "z": "end", "b": "edge", "B": "no edge"}


class InvalidPattern(ValueError):
    """The text is no regular expression."""


@dataclass(frozen=True, slots=True)
class OneOf:
    """Any one of these characters."""

    characters: frozenset[str]


@dataclass(frozen=True, slots=True)
class Sequence:
    """One after the other; nothing at all, if there are none."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """Any one of these."""

    branches: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """As often as `least` to `most` times, or more, if that is None."""

    part: "Node"
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Anchor:
    """The start or the end of the name, or the edge of a word, or none."""

    kind: str


Node = OneOf | Sequence | Choice | Repeat | Anchor


def parse(text: str) -> Node:
    """The expression; raises InvalidPattern."""
    if len(text) > _TEXT_MAX:
        raise InvalidPattern("expression too large")
    parser = _Parser(text)
    node = parser.choice(0)
    if not parser.is_done:
        raise InvalidPattern("unexpected )")
    _check_repetitions(node, 1)
    return node


def _check_repetitions(node: Node, times: int) -> None:
    """Refuse what is repeated too often by repetitions within repetitions, as RE2 does."""
    match node:
        case Sequence(parts) | Choice(parts):
            for part in parts:
                _check_repetitions(part, times)
        case Repeat(part, least, most):
            times *= max(1, least if most is None else most)
            if times > _REPEAT_MAX:
                raise InvalidPattern("invalid repeat count")
            _check_repetitions(part, times)


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._part_count = 0
        self._ignores_case = False

    @property
    def is_done(self) -> bool:
        return self._position == len(self._text)

    # Structure

    def choice(self, depth: int) -> Node:
        if depth > _DEPTH_MAX:
            raise InvalidPattern("expression nests too deeply")
        ignores_case = self._ignores_case
        branches = [self._sequence(depth)]
        while self._take("|"):
            branches.append(self._sequence(depth))
        self._ignores_case = ignores_case  # flags hold until the end of their group
        return branches[0] if len(branches) == 1 else Choice(tuple(branches))

    def _sequence(self, depth: int) -> Node:
        parts: list[Node] = []
        self._count_parts(1)
        while not self.is_done and self._peek() not in "|)":
            if self._take("\\Q"):
                parts += self._quoted()
            else:
                parts.append(self._repeated(self._atom(depth)))
                self._count_parts(1)
        return Sequence(tuple(parts))

    def _count_parts(self, count: int) -> None:
        self._part_count += count
        if self._part_count > _PARTS_MAX:
            raise InvalidPattern("expression too large")

    def _repeated(self, part: Node) -> Node:
        counts = self._repetition()
        if counts is None:
            return part
        if self._repetition() is not None:
            raise InvalidPattern("repetition of a repetition")
        least, most = counts
        return Repeat(part, least, most)

    def _repetition(self) -> tuple[int, int | None] | None:
        """How often at least and at most, if that is what follows."""
        if self.is_done:
            return None
        counts: tuple[int, int | None] | None
        match self._peek():
            case "*":
                counts = 0, None
            case "+":
                counts = 1, None
            case "?":
                counts = 0, 1
            case "{":
                return self._counts()
            case _:
                return None
        self._next()
        self._take("?")  # lazy: the same, for whole names
        return counts

    def _counts(self) -> tuple[int, int | None] | None:
        """What {2}, {2,} or {2,3} says; other braces are characters."""
        found = _COUNTS.match(self._text, self._position)
        if found is None:
            return None
        self._position = found.end()
        self._take("?")
        least = _repeat_count(found[1])
        most = least if not found[2] else _repeat_count(found[3]) if found[3] else None
        if most is not None and most < least:
            raise InvalidPattern("invalid repeat count")
        return least, most

    def _atom(self, depth: int) -> Node:
        character = self._next()
        match character:
            case "(":
                return self._group(depth)
            case "[":
                return OneOf(self._bracketed())
            case ".":
                return OneOf(_ALL)
            case "^":
                return Anchor("start")
            case "$":
                return Anchor("end")
            case "\\":
                return self._escaped()
            case "*" | "+" | "?":
                raise InvalidPattern("missing argument to repetition operator")
        return self._literal(character)

    def _group(self, depth: int) -> Node:
        if self._take("?"):
            if self._take("P<") or self._take("<"):
                name, closing, _ = self._text[self._position :].partition(">")
                if not closing or not name.isidentifier():
                    raise InvalidPattern("invalid named capture")
                self._position += len(name) + 1
            elif self._flags():
                return Sequence(())
        node = self.choice(depth + 1)
        if not self._take(")"):
            raise InvalidPattern("missing closing )")
        return node

    def _flags(self) -> bool:
        """Read flags; whether that was all of the group."""
        is_on = True
        while True:
            match self._next():
                case "i":
                    self._ignores_case = is_on
                case "m" | "s" | "U":
                    continue
                case "-" if is_on:
                    is_on = False
                case ":":
                    return False
                case ")":
                    return True
                case _:
                    raise InvalidPattern("invalid or unsupported group")

    # Characters

    def _escaped(self) -> Node:
        character = self._peek()
        if character in _PLACES:
            self._next()
            return Anchor(_PLACES[character])
        found = self._class_escape()
        return self._literal(self._character_escape()) if found is None else OneOf(found)

    def _class_escape(self) -> frozenset[str] | None:
        character = self._peek()
        if character.lower() not in _CLASSES:
            return None
        self._next()
        found = _CLASSES[character.lower()]
        return found if character.islower() else _ALL - found

    def _character_escape(self) -> str:
        character = self._next()
        if character == "x":
            digits = self._text[self._position : self._position + 2]
            if self._take("{"):
                digits = self._text[self._position :].partition("}")[0]
                self._position += 1
            self._position += len(digits)
            try:
                return chr(int(digits, 16))
            except (ValueError, OverflowError):
                raise InvalidPattern("invalid escape sequence") from None
        if character in _CONTROLS:
            return _CONTROLS[character]
        if character.isalnum():
            raise InvalidPattern(f"invalid escape sequence \\{character}")
        return character

    def _bracketed(self) -> frozenset[str]:
        is_negated = self._take("^")
        found: set[str] = set()
        is_first = True
        while is_first or not self._take("]"):
            found.update(self._bracket_item())
            is_first = False
        characters = self._both_cases(found) & _ALL
        return _ALL - characters if is_negated else characters

    def _bracket_item(self) -> Iterable[str]:
        if self._take("[:"):
            name, closing, _ = self._text[self._position :].partition(":]")
            known = _POSIX.get(name.removeprefix("^"))
            if not closing or known is None:
                raise InvalidPattern("invalid character class")
            self._position += len(name) + 2
            return _ALL - known if name.startswith("^") else known
        if self._take("\\"):
            found = self._class_escape()
            if found is not None:
                return found
            low = self._character_escape()
        else:
            low = self._next()
        rest = self._text[self._position : self._position + 2]
        if len(rest) < 2 or rest[0] != "-" or rest[1] == "]":
            return low
        self._next()
        high = self._character_escape() if self._take("\\") else self._next()
        if high < low:
            raise InvalidPattern("invalid character class range")
        return [each for each in NAME_CHARACTERS if low <= each <= high]

    def _quoted(self) -> list[Node]:
        text, _, _ = self._text[self._position :].partition("\\E")
        self._count_parts(len(text))
        self._position = min(self._position + len(text) + 2, len(self._text))
        return [self._literal(each) for each in text]

    def _literal(self, character: str) -> Node:
        return OneOf(self._both_cases(character) & _ALL)

    def _both_cases(self, characters: Iterable[str]) -> frozenset[str]:
        if not self._ignores_case:
            return frozenset(characters)
        return frozenset(case for each in characters for case in (each.lower(), each.upper()))

    # Text

    def _peek(self) -> str:
        if self.is_done:
            raise InvalidPattern("unexpected end")
        return self._text[self._position]

    def _next(self) -> str:
        character = self._peek()
        self._position += 1
        return character

    def _take(self, text: str) -> bool:
        if self._text.startswith(text, self._position):
            self._position += len(text)
            return True
        return False


def _repeat_count(digits: str) -> int:
    # Not by int() alone, which raises for thousands of digits.
    count = int(digits) if len(digits) <= len(str(_REPEAT_MAX)) else _REPEAT_MAX + 1
    if count > _REPEAT_MAX:
        raise InvalidPattern("invalid repeat count")
    return count
