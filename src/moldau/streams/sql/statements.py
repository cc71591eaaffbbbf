"""What stands between semicolons: Spark's own SQL, and the few words that are ours."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

# Semicolons in these end nothing.
_PIECE = re.compile(
    r"""--[^\n]* | /\*.*?(?:\*/|\Z) | '(?:[^'\\]|\\.|'')*(?:'|\Z) | "(?:[^"\\]|\\.)*(?:"|\Z)
    | `[^`]*(?:`|\Z) | [;()] | [^-/'"`;()]+ | .""",
    re.VERBOSE | re.DOTALL,
)
_NAME = r"(`[^`]+`|[\w.-]+)"
_CREATE = re.compile(rf"create\s+stream\s+(?:if\s+not\s+exists\s+)?{_NAME}\s*", re.IGNORECASE)
_DROP = re.compile(rf"(?:drop\s+stream|terminate)\s+{_NAME}\s*$", re.IGNORECASE)
_SHOW = re.compile(r"(?:show|list)\s+(topics|tables|streams)\s*$", re.IGNORECASE)
_WITH = re.compile(r"with\s*(?=\()", re.IGNORECASE)
_AS = re.compile(r"as\s+(?=\S)", re.IGNORECASE)
_EMIT = re.compile(r"\s+emit\s+(?:changes|final)\s*$", re.IGNORECASE)
_SETTING = re.compile(r"""\s*'?([\w.]+)'?\s*=\s*('(?:[^']|'')*'|[\w.-]+)\s*(?:,|\Z)""")


@dataclass(frozen=True, slots=True)
class DeclareStream:
    """`CREATE STREAM name (columns) WITH (...)`: what the values of a topic are."""

    name: str
    columns: str
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class CreateStream:
    """`CREATE STREAM name AS SELECT ...`: a query that runs and writes to a topic."""

    name: str
    query: str
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class WatchQuery:
    """`SELECT ... EMIT CHANGES`: rows as they come."""

    query: str


@dataclass(frozen=True, slots=True)
class DropStream:
    """`DROP STREAM name`: the query ends; its topic stays."""

    name: str


@dataclass(frozen=True, slots=True)
class ShowNames:
    """`SHOW TOPICS` or `SHOW STREAMS`."""

    what: str


@dataclass(frozen=True, slots=True)
class SparkStatement:
    """Anything else is Spark's."""

    text: str


Statement = DeclareStream | CreateStream | WatchQuery | DropStream | ShowNames | SparkStatement


class BadStatement(ValueError):
    """A statement of ours that is not as it should be; the message says how it is written."""


def split(text: str) -> tuple[list[str], str]:
    """The statements that a semicolon ends, and what is begun; without comments."""
    found: list[str] = []
    begun = ""
    for match in _PIECE.finditer(text):
        piece = match[0]
        if piece == ";":
            found.append(begun.strip())
            begun = ""
        elif piece.startswith(("--", "/*")):
            begun += " "
        else:
            begun += piece
    return [each for each in found if each], begun.strip()


def parsed(text: str) -> Statement:
    """One statement, without its semicolon."""
    create = _CREATE.match(text)
    if create is not None:
        return _created(_plain(create[1]), text[create.end() :])
    drop = _DROP.match(text)
    if drop is not None:
        return DropStream(_plain(drop[1]))
    show = _SHOW.match(text)
    if show is not None:
        return ShowNames("streams" if show[1].lower() == "streams" else "topics")
    emit = _EMIT.search(text)
    return WatchQuery(text[: emit.start()]) if emit is not None else SparkStatement(text)


def settings_of(text: str) -> dict[str, str]:
    """What stands in the brackets of WITH: `name = 'value', ...`; names in lower case."""
    found: dict[str, str] = {}
    at = 0
    while text[at:].strip():
        match = _SETTING.match(text, at)
        if match is None:
            raise BadStatement(f"WITH ({text}): write name = 'value', and commas between them")
        value = match[2]
        is_quoted = value.startswith("'")
        found[match[1].lower()] = value[1:-1].replace("''", "'") if is_quoted else value
        at = match.end()
    return found


def _created(name: str, rest: str) -> Statement:
    columns, settings = "", {}
    if rest.startswith("("):
        columns, rest = _bracketed(rest)
    with_settings = _WITH.match(rest)
    if with_settings is not None:
        text, rest = _bracketed(rest[with_settings.end() :])
        settings = settings_of(text)
    query = _AS.match(rest)
    if query is not None and not columns:
        return CreateStream(name, _EMIT.sub("", rest[query.end() :]), settings)
    if rest or not columns:
        raise BadStatement(
            f"CREATE STREAM {name}: write AS SELECT ..., for a query that writes to the topic, or "
            "(column type, ...) for what the values of the topic are; WITH (...) may stand between"
        )
    return DeclareStream(name, columns, settings)


def _bracketed(text: str) -> tuple[str, str]:
    """What a bracket at the beginning encloses, and what follows."""
    depth = 0
    for match in _PIECE.finditer(text):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if depth == 0:
            return text[1 : match.start()].strip(), text[match.end() :].strip()
    raise BadStatement(f"a bracket is not closed: {text[:60]}")


def _plain(name: str) -> str:
    return name.strip("`")
