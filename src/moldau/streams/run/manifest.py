"""What a checkpoint belongs to: written beside the queries' own directories.

A topology changes over the years. Before anything starts, its queries are compared with those whose
state is there: equal ones go on, new ones begin, and one that cannot go on is refused.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from moldau.streams.compile.signatures import QuerySignature

FILE = "moldau-streams.json"
VERSION = 1
_BY_NUMBER = re.compile(r".+-\d+")

StartingOffsets = Mapping[str, Mapping[str, int]]
"""Where queries without a checkpoint begin: by topic and partition."""


class CannotGoOn(Exception):
    """The topology does not fit its checkpoint; the message says what changed and the ways out."""


@dataclass(frozen=True, slots=True)
class KnownQuery:
    """A query that has a checkpoint."""

    signature: QuerySignature
    state_partitions: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """The queries of an application by their names, and what a reset has said."""

    queries: Mapping[str, KnownQuery] = field(default_factory=dict)
    starting: StartingOffsets = field(default_factory=dict)
    # For queries that begin; None is for what fits the topics and the cores.
    state_partitions: int | None = None

    @classmethod
    def read(cls, checkpoint: str) -> Self:
        """What a checkpoint says; a new one says nothing."""
        directory = local_directory(checkpoint)
        if directory is None or not (directory / FILE).exists():
            if directory is not None:
                _refuse_numbered(directory)
            return cls()
        try:
            data = json.loads((directory / FILE).read_text())
            if data["version"] != VERSION:
                raise CannotGoOn(f"{directory / FILE} is of version {data['version']}: {_WAYS_OUT}")
            return cls(
                {
                    name: KnownQuery(QuerySignature.read(each), each["state_partitions"])
                    for name, each in data["queries"].items()
                },
                data["starting"],
                data["state_partitions"],
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise CannotGoOn(f"{directory / FILE} cannot be read: {error!r}") from error

    def write(self, checkpoint: str) -> None:
        """Put it beside the queries' directories, whole or not at all."""
        directory = local_directory(checkpoint)
        if directory is None:
            return
        directory.mkdir(parents=True, exist_ok=True)
        data = {
            "version": VERSION,
            "queries": {
                name: {**each.signature.as_data(), "state_partitions": each.state_partitions}
                for name, each in self.queries.items()
            },
            "starting": self.starting,
            "state_partitions": self.state_partitions,
        }
        aside = directory / f".{FILE}"
        aside.write_text(json.dumps(data, indent=2) + "\n")
        aside.rename(directory / FILE)

    def with_queries(self, queries: Mapping[str, KnownQuery]) -> "Manifest":
        """With these beside those that are known: what is left out may come back."""
        return replace(self, queries={**self.queries, **queries})


@dataclass(frozen=True, slots=True)
class Comparison:
    """A topology beside a checkpoint: which query goes on from what."""

    # The name under which each query is known, by the name that it would have.
    names: Mapping[str, str]
    new: tuple[str, ...]
    gone: tuple[str, ...]
    refused: Mapping[str, tuple[str, ...]]

    def lines(self) -> list[str]:
        """In words, for people."""
        going = (name for name in self.names.values() if name not in (*self.new, *self.refused))
        found = [f"{name}: goes on" for name in going]
        found += [f"{name}: is new, and begins" for name in self.new if name not in self.refused]
        found += [f"{name}: is not in the topology; its state stays" for name in self.gone]
        found += [f"{name}: cannot go on: {'; '.join(why)}" for name, why in self.refused.items()]
        return found

    def check(self) -> None:
        """CannotGoOn if a query is refused."""
        if self.refused:
            lines = [f"{name} {why}" for name, all_of in self.refused.items() for why in all_of]
            listed = "\n  ".join(lines)
            raise CannotGoOn(f"the topology has changed:\n  {listed}\n{_WAYS_OUT}")


_WAYS_OUT = (
    "Either begin anew with `moldau streams reset APP.py` (--dry-run shows what it does), or keep "
    "the old state and run this one beside it under another name with --application NAME."
)


def compared(known: Mapping[str, KnownQuery], wanted: Mapping[str, QuerySignature]) -> Comparison:
    """What becomes of queries that are known, by their names or by what they keep."""
    left = {name: each.signature for name, each in known.items() if name not in wanted}
    names: dict[str, str] = {}
    new: list[str] = []
    refused: dict[str, tuple[str, ...]] = {}
    for name, signature in wanted.items():
        names[name] = name
        if name in known:
            why = tuple(signature.differences(known[name].signature))
            if why:
                refused[name] = why
            continue
        # A query whose sinks changed may have another name, and still has its state.
        same = [other for other, before in left.items() if before == signature and before.states]
        if len(same) == 1:
            names[name] = same[0]
            del left[same[0]]
        else:
            new.append(name)
    return Comparison(names, tuple(new), tuple(left), refused)


def local_directory(checkpoint: str) -> Path | None:
    """The directory of a checkpoint on this machine; None if it lies elsewhere."""
    scheme, separator, path = checkpoint.partition("://")
    if not separator:
        return Path(checkpoint)
    return Path(path) if scheme == "file" else None


def _refuse_numbered(directory: Path) -> None:
    """Queries had numbers once, and a number says nothing of what is in a checkpoint."""
    numbered = [
        each for each in directory.glob("*/offsets") if _BY_NUMBER.fullmatch(each.parent.name)
    ]
    if numbered:
        raise CannotGoOn(
            f"{directory} has queries by number, of an earlier version: {numbered[0].parent.name}. "
            f"{_WAYS_OUT}"
        )
