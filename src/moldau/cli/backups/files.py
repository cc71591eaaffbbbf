"""Which files of a log directory belong to a backup, and hard links to them.

The links are made on the broker's event loop without a pause: everything that appends, rolls or
replaces segments runs there too, so they show one instant, as `kill -9` would have left it.
Segments only grow at their end, and everything else is replaced as a whole: with its size at that
instant each file can be copied later, while the broker goes on.
"""

import os
import shutil
from collections.abc import Sequence

from moldau.log import names
from moldau.log.directory import LOCK

LINKS = ".backup"
"""Where the links are, in each log directory."""
_UNFINISHED = (names.DELETED, names.CLEANED, names.SWAP, ".tmp", ".prepared")

Sizes = dict[str, int]
"""The bytes of each file, by its path in the directory."""


def listed(directory: str, *, omitted: Sequence[str] = ()) -> Sizes:
    """The files that a start would find, but not those in `directory` that begin as `omitted`."""
    found: Sizes = {}
    for entry in sorted(os.scandir(directory), key=lambda entry: entry.name):
        if entry.is_dir():
            if names.partition_of(entry.name) is not None:
                found |= _listed_partition(entry)
        elif not entry.name.startswith((LOCK, LINKS, *omitted)) and _is_kept(entry.name):
            found[entry.name] = entry.stat().st_size
    return found


def linked(directory: str, *, omitted: Sequence[str]) -> Sizes:
    """Link everything that `listed` finds into the directory `LINKS`, which is not there yet."""
    place = f"{directory}/{LINKS}"
    os.mkdir(place, 0o700)
    found = listed(directory, omitted=omitted)
    for folder in {os.path.dirname(name) for name in found} - {""}:
        os.mkdir(f"{place}/{folder}", 0o700)
    for name in found:
        os.link(f"{directory}/{name}", f"{place}/{name}")
    return found


def remove_links(directory: str) -> None:
    """Forget the links of an earlier backup; fine if there are none."""
    shutil.rmtree(f"{directory}/{LINKS}", ignore_errors=True)


def _listed_partition(folder: "os.DirEntry[str]") -> Sizes:
    return {
        f"{folder.name}/{entry.name}": entry.stat().st_size
        for entry in sorted(os.scandir(folder.path), key=lambda entry: entry.name)
        if entry.is_file() and _is_kept(entry.name)
    }


def _is_kept(name: str) -> bool:
    return not name.endswith(_UNFINISHED)
