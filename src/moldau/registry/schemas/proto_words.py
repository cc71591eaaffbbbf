"""The words of a `.proto`, one after the other."""

import re

from moldau.registry.failures import InvalidSchema

_WORD = re.compile(
    r"""
    (?P<space>\s+ | //[^\n]* | /\*.*?\*/)
    | (?P<text>"(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*')
    | (?P<number>0[xX][0-9a-fA-F]+ | (?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    | (?P<name>\.?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)
    | (?P<sign>[{}\[\]()<>;=,:/+.-])
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_END = ""


class ProtoWords:
    """Reads words in their order; InvalidSchema, with the line, if another is expected."""

    def __init__(self, text: str) -> None:
        self._words: list[tuple[str, str, int]] = []
        self._at = 0
        position = 0
        while position < len(text):
            found = _WORD.match(text, position)
            if found is None:
                line = text.count("\n", 0, position) + 1
                raise InvalidSchema(
                    f"Syntax error in line {line}: {text[position : position + 20]!r}"
                )
            kind = str(found.lastgroup)
            if kind != "space":
                self._words.append((kind, found.group(), position))
            position = found.end()
        self._text = text

    @property
    def is_over(self) -> bool:
        """Whether there are no more."""
        return self._at == len(self._words)

    def peek(self) -> str:
        """The next word, which is read again."""
        return _END if self.is_over else self._words[self._at][1]

    def peek_after(self) -> str:
        """The word after the next."""
        return self._words[self._at + 1][1] if self._at + 1 < len(self._words) else _END

    def take(self) -> str:
        """The next word."""
        if self.is_over:
            raise InvalidSchema("Syntax error: the text ends too early")
        self._at += 1
        return self._words[self._at - 1][1]

    def skip(self, *wanted: str) -> bool:
        """Whether the next word is one of these; then it is read."""
        is_there = self.peek() in wanted and not self.is_over
        self._at += is_there
        return is_there

    def expect(self, wanted: str) -> None:
        """Read this word."""
        if not self.skip(wanted):
            raise self.error(f"expected {wanted!r}")

    def name(self) -> str:
        """A name, with dots or without."""
        return self._take_kind("name", "a name")

    def text(self) -> str:
        """A text, which may come in pieces."""
        found = _unquoted(self._take_kind("text", "a text"))
        while not self.is_over and self._words[self._at][0] == "text":
            found += _unquoted(self.take())
        return found

    def is_text(self) -> bool:
        """Whether the next word is a text."""
        return not self.is_over and self._words[self._at][0] == "text"

    def integer(self) -> int:
        """A whole number, with a sign or without."""
        sign = -1 if self.skip("-") else 1
        word = self._take_kind("number", "a number")
        try:
            return sign * (int(word, 8) if re.fullmatch("0[0-7]+", word) else int(word, 0))
        except ValueError:
            raise self.error(f"{word} is no whole number") from None

    def error(self, message: str) -> InvalidSchema:
        """What is wrong at the next word."""
        position = len(self._text) if self.is_over else self._words[self._at][2]
        line = self._text.count("\n", 0, position) + 1
        return InvalidSchema(f"Syntax error in line {line}: {message} at {self.peek()!r}")

    def _take_kind(self, kind: str, called: str) -> str:
        if self.is_over or self._words[self._at][0] != kind:
            raise self.error(f"expected {called}")
        return self.take()


def _unquoted(word: str) -> str:
    return _ESCAPE.sub(_unescaped, word[1:-1])


def _unescaped(found: re.Match[str]) -> str:
    sequence = found.group(1)
    if sequence[0] == "x" and len(sequence) > 1:
        return chr(int(sequence[1:], 16))
    if sequence[0] in "01234567":
        return chr(int(sequence, 8))
    return _ESCAPES.get(sequence, sequence)
