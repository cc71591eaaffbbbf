"""Reads JAAS, the notation in which Java's programs keep user and password.

    org.example.PlainLoginModule required username="anna" password="...";

Words, quotes, escapes and comments are those of Java's StreamTokenizer: a value that does not
begin as a name does, a number for one, must be in quotes.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from moldau.config.values import config_error, invalid

_TOKEN = re.compile(
    r"""\s+|//[^\n]*|/\*.*?\*/
    |(?P<word>[^\W\d][\w$.-]*|\$[\w$.-]*)
    |"(?P<double>(?:[^"\\\n]|\\.)*)"
    |'(?P<single>(?:[^'\\\n]|\\.)*)'
    |(?P<mark>[={};])""",
    re.S | re.X,
)
_ESCAPE = re.compile(r"\\([0-3][0-7]{0,2}|[4-7][0-7]?|.)", re.S)
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "a": "\a", "v": "\v"}
_FLAGS = ("required", "requisite", "sufficient", "optional")


@dataclass(frozen=True, slots=True)
class LoginModule:
    """How to log in: the Java class that would do it, and its options."""

    name: str
    options: dict[str, str] = field(repr=False)


def read_jaas_config(text: str) -> dict[str, str]:
    """The options of the one login module in `sasl.jaas.config`."""
    return read_login_module(text, "sasl.jaas.config").options


def read_login_module(text: str, setting: str) -> LoginModule:
    """The one login module of a setting; InvalidConfig if there is none.

    The text is not repeated in the error: there are passwords in it.
    """
    try:
        tokens = _Tokens(text)
        module = _module(tokens)
        tokens.end()
    except _Unreadable:
        raise _wrong(setting) from None
    return module


def read_jaas_file(text: str, path: str) -> dict[str, tuple[LoginModule, ...]]:
    """The login modules of each section of a login file."""
    sections: dict[str, tuple[LoginModule, ...]] = {}
    try:
        tokens = _Tokens(text)
        while not tokens.is_over:
            name = tokens.word()
            tokens.mark("{")
            modules = [_module(tokens)]
            while not tokens.has("}"):
                modules.append(_module(tokens))
            tokens.mark("}")
            tokens.mark(";")
            sections[name] = tuple(modules)
    except _Unreadable:
        example = "Client { Module required; };"
        raise config_error(f"{path}: not a login file, as in: {example}") from None
    return sections


class _Unreadable(Exception):
    """The text is not JAAS; what is in it must not be repeated."""


class _Token(NamedTuple):
    text: str
    is_mark: bool


class _Tokens:
    def __init__(self, text: str) -> None:
        self._rest = list(_tokens(text))[::-1]

    @property
    def is_over(self) -> bool:
        return not self._rest

    def word(self) -> str:
        """A word or a text in quotes."""
        if self.is_over or self._rest[-1].is_mark:
            raise _Unreadable
        return self._rest.pop().text

    def has(self, mark: str) -> bool:
        return bool(self._rest) and self._rest[-1] == (mark, True)

    def mark(self, mark: str) -> None:
        if not self.has(mark):
            raise _Unreadable
        self._rest.pop()

    def end(self) -> None:
        if not self.is_over:
            raise _Unreadable


def _tokens(text: str) -> Iterator[_Token]:
    position = 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            raise _Unreadable
        position = found.end()
        if found["mark"]:
            yield _Token(found["mark"], is_mark=True)
        elif found["word"] is not None:
            yield _Token(found["word"], is_mark=False)
        elif found.lastgroup is not None:
            yield _Token(_ESCAPE.sub(_unescaped, found[found.lastgroup]), is_mark=False)


def _unescaped(found: re.Match[str]) -> str:
    escape = found[1]
    return chr(int(escape, 8)) if escape[0] in "01234567" else _CONTROLS.get(escape, escape)


def _module(tokens: _Tokens) -> LoginModule:
    name = tokens.word()
    if tokens.word().lower() not in _FLAGS:
        raise _Unreadable
    options: dict[str, str] = {}
    while not tokens.has(";"):
        option = tokens.word()
        tokens.mark("=")
        options[option] = tokens.word()
    tokens.mark(";")
    return LoginModule(name, options)


def _wrong(setting: str) -> Exception:
    return invalid(setting, "(hidden)", 'a login module, as in: Module required username="u";')
