"""The seven levels of compatibility: against which versions, and in which direction."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

Version = TypeVar("Version")


@dataclass(frozen=True, slots=True)
class Difference:
    """One reason why a schema cannot read what was written with another."""

    kind: str
    path: str
    description: str

    def __str__(self) -> str:
        return f"{{errorType:'{self.kind}', description:'{self.description}'}}"


class CompatibilityLevel(Enum):
    """What a new version has to be able to do."""

    NONE = "NONE"
    BACKWARD = "BACKWARD"
    BACKWARD_TRANSITIVE = "BACKWARD_TRANSITIVE"
    FORWARD = "FORWARD"
    FORWARD_TRANSITIVE = "FORWARD_TRANSITIVE"
    FULL = "FULL"
    FULL_TRANSITIVE = "FULL_TRANSITIVE"

    @property
    def is_transitive(self) -> bool:
        """Whether all versions count, not the newest alone."""
        return self.value.endswith("_TRANSITIVE")

    @property
    def reads_older(self) -> bool:
        """Whether the new version has to read what older ones wrote."""
        return self.value.startswith(("BACKWARD", "FULL"))

    @property
    def is_read_by_older(self) -> bool:
        """Whether older versions have to read what the new one writes."""
        return self.value.startswith(("FORWARD", "FULL"))


Reads = Callable[[Version, Version], list[Difference]]
"""Why the first cannot read what was written with the second: an empty list if it can."""


def incompatibilities(
    level: CompatibilityLevel, new: Version, older: Sequence[Version], reads: Reads[Version]
) -> tuple[Version, list[Difference]] | None:
    """The newest of the older versions that the new one does not fit, and why; None if it fits.

    `older` is in the order of their versions.
    """
    checked = older if level.is_transitive else older[-1:]
    for each in reversed(checked):
        found: list[Difference] = []
        if level.reads_older:
            found += reads(new, each)
        if level.is_read_by_older:
            found += reads(each, new)
        if found:
            return each, found
    return None
