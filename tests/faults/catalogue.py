"""Every fault that can be played, by its name."""

from faults import (
    coordinators,
    deaths,
    disks,
    frames,
    mixture,
    partitions,
    pauses,
    retention,
    rolling,
    sessions,
    supervising,
    unclean,
    wear,
)
from faults.fault import Fault

_FAMILIES = (
    deaths,
    pauses,
    sessions,
    partitions,
    disks,
    coordinators,
    frames,
    retention,
    wear,
    mixture,
    rolling,
    unclean,
    supervising,
)
_FOUND = [one for family in _FAMILIES for one in vars(family).values() if isinstance(one, Fault)]
FAULTS: dict[str, Fault] = {one.name: one for one in sorted(_FOUND, key=lambda found: found.number)}
