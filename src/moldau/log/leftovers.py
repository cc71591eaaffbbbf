"""Finishing or undoing what a crash has interrupted in a partition's directory.

`.deleted` and `.cleaned` files are removed. A `.swap` segment is a complete result of
compaction and takes the place of what it was made from, see `moldau.log.replacement`;
one whose base offset is not below that of a `.cleaned` file is part of a split that never
got complete, and is dropped. Indexes without their segment are removed.
"""

import logging

from moldau.log import names, scan
from moldau.log.volume import Folder
from moldau.runtime.disk import DirectoryEntry

_log = logging.getLogger(__name__)

_TEMPORARY = ".tmp"  # an atomic write that did not get to its rename


def settle(folder: Folder) -> dict[str, DirectoryEntry]:
    """Bring the directory into a state that a log can be opened from; returns its files."""
    files = _list(folder)
    if any(name.endswith((names.DELETED, names.CLEANED, names.SWAP, _TEMPORARY)) for name in files):
        _remove_incomplete(folder, files)
        _complete_swaps(folder, files)
        files = _list(folder)
    orphans = [name for name in files if _is_orphan(name, files)]
    for name in orphans:
        _log.warning("Deleting %s/%s: its segment does not exist", folder.path, name)
        _remove(folder, files, name)
    return files


def _list(folder: Folder) -> dict[str, DirectoryEntry]:
    entries = folder.disk.list_directory(folder.path)
    return {entry.name: entry for entry in entries if not entry.is_directory}


def _remove(folder: Folder, files: dict[str, DirectoryEntry], name: str) -> None:
    folder.disk.remove(f"{folder.path}/{name}")
    del files[name]


def _remove_incomplete(folder: Folder, files: dict[str, DirectoryEntry]) -> None:
    cleaned = [name for name in files if name.endswith(names.CLEANED)]
    offsets = [names.offset_of(name) for name in cleaned]
    first_cleaned = min((offset for offset in offsets if offset is not None), default=None)
    for name in sorted(files):
        offset = names.offset_of(name)
        is_part_of_split = (
            name.endswith(names.SWAP)
            and offset is not None
            and first_cleaned is not None
            and offset >= first_cleaned
        )
        if is_part_of_split or name.endswith((names.DELETED, _TEMPORARY)):
            _remove(folder, files, name)
    # Last, because they are what marks the swaps above as incomplete.
    for name in cleaned:
        _remove(folder, files, name)


def _complete_swaps(folder: Folder, files: dict[str, DirectoryEntry]) -> None:
    swapped = sorted(name for name in files if name.endswith(names.LOG + names.SWAP))
    replaced: list[tuple[int, int]] = []
    for name in swapped:
        base_offset = names.offset_of(name)
        if base_offset is not None:
            replaced.append((base_offset, _end_offset(folder, files[name], base_offset)))
    if replaced:
        start_offset, end_offset = replaced[0][0], max(end for _, end in replaced)
        for name in sorted(files):
            offset = names.offset_of(name)
            is_replaced = offset is not None and start_offset <= offset < end_offset
            if is_replaced and name.endswith(names.SEGMENT_SUFFIXES):
                _remove(folder, files, name)
    # The segment's own file first, as in the swap itself.
    for name in sorted(files, key=lambda name: (not name.endswith(names.LOG + names.SWAP), name)):
        if name.endswith(names.SWAP):
            path = f"{folder.path}/{name}"
            folder.disk.rename(path, path.removesuffix(names.SWAP))


def _end_offset(folder: Folder, entry: DirectoryEntry, base_offset: int) -> int:
    """Behind the last offset of a swapped segment; it covers its base even when empty."""
    end_offset = base_offset + 1
    file = folder.disk.open_read(f"{folder.path}/{entry.name}")
    for _, header in scan.headers(file, 0, entry.size):
        end_offset = header.next_offset
    return end_offset


def _is_orphan(name: str, files: dict[str, DirectoryEntry]) -> bool:
    if not name.endswith(names.INDEX_SUFFIXES):
        return False
    offset = names.offset_of(name)
    return offset is not None and names.segment_file(offset, names.LOG) not in files
