"""A diagnosis: what is known, and causes with commands and requests that would mend them."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

_SHOWN_MAX = 5


@dataclass(frozen=True, slots=True)
class MendingRequest:
    """A request to this console that would mend something; it is shown before it is sent."""

    label: str
    method: str
    path: tuple[str, ...]
    """Parts of the path below the cluster."""
    role: str
    body: Mapping[str, object] = field(default_factory=dict)
    confirm: str | None = None
    """What is to be typed, if it cannot be undone."""


@dataclass(frozen=True, slots=True)
class LikelyCause:
    """One likely cause; a certain one is seen, not guessed."""

    text: str
    advice: str = ""
    is_certain: bool = False
    command: str = ""
    """For a shell; empty if there is none."""
    remedy: MendingRequest | None = None
    page: tuple[str, ...] = ()
    """Parts of the address of a page that shows more, below the cluster."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What there is to say; without causes all is well, or nothing is known."""

    known: list[str]
    causes: list[LikelyCause]


def command(*words: str) -> str:
    """A line for a shell, with names of others quoted; none if one hides what it says."""
    if not all(word.isprintable() for word in words):
        return ""
    return shlex.join(words)


def some(names: list[str]) -> str:
    """The first of many names."""
    more = len(names) - _SHOWN_MAX
    return ", ".join(names[:_SHOWN_MAX]) + (f" and {more} more" if more > 0 else "")
