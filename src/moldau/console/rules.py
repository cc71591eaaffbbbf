"""The file of rules: roles by topics, and what is hidden of records. In TOML.

[[role]]
who = ["anna", "group:ops"]        # "*": everybody who is let in
role = "operator"                  # viewer, reader, operator or admin
topics = ["orders", "payments-*"]  # all if left out

[[mask]]
topics = ["payments-*"]
paths = ["value.card.number", "value.users.*.email", "key", "headers.token"]
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass

from moldau.console.access import ALL_TOPICS, ROLE_NAMES, Role, TopicGrant
from moldau.console.masking import MaskRule, read_path

_FIELDS = {"role": {"who", "role", "topics"}, "mask": {"topics", "paths"}}


class RulesError(ValueError):
    """A rule that says nothing, and why."""


@dataclass(frozen=True, slots=True)
class ConsoleRules:
    """What the file says."""

    grants: tuple[TopicGrant, ...] = ()
    masks: tuple[MaskRule, ...] = ()


def read_rules(text: str) -> ConsoleRules:
    """The rules of a file."""
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RulesError(str(error)) from None
    unknown = set(found) - set(_FIELDS)
    if unknown:
        raise RulesError(f"{min(unknown)}: there are [[role]] and [[mask]]")
    return ConsoleRules(
        tuple(_grant(each, place) for each, place in _tables(found, "role")),
        tuple(_mask(each, place) for each, place in _tables(found, "mask")),
    )


def _tables(found: Mapping[str, object], name: str) -> list[tuple[Mapping[str, object], str]]:
    listed = found.get(name, [])
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise RulesError(f"{name}: write [[{name}]] before each")
    for number, each in enumerate(listed, 1):
        unknown = set(each) - _FIELDS[name]
        if unknown:  # a word that is misspelt would open what it should close
            raise RulesError(f"{name} {number}: {min(unknown)} means nothing here")
    return [(each, f"{name} {number}") for number, each in enumerate(listed, 1)]


def _grant(table: Mapping[str, object], place: str) -> TopicGrant:
    role = table.get("role")
    if role not in ROLE_NAMES:
        raise RulesError(f"{place}: role is one of {', '.join(ROLE_NAMES)}")
    topics = _texts(table, "topics", place) if "topics" in table else (ALL_TOPICS,)
    return TopicGrant(_texts(table, "who", place), Role[str(role).upper()], topics)


def _mask(table: Mapping[str, object], place: str) -> MaskRule:
    try:
        paths = tuple(read_path(each) for each in _texts(table, "paths", place))
    except ValueError as error:
        if isinstance(error, RulesError):
            raise
        raise RulesError(f"{place}: {error}") from None
    return MaskRule(_texts(table, "topics", place), paths)


def _texts(table: Mapping[str, object], name: str, place: str) -> tuple[str, ...]:
    found = table.get(name)
    if not isinstance(found, list) or not found:
        raise RulesError(f"{place}: {name} is a list of texts")
    if not all(isinstance(each, str) and each for each in found):
        raise RulesError(f"{place}: {name} is a list of texts")
    return tuple(found)
