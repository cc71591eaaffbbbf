"""Putting cleaned segments in the place of those they were made from, safe from crashes.

Three steps, each a series of renames in one directory:

1. the new segments from `.cleaned` to `.swap`, the last first
2. the old ones to `.deleted`
3. the new ones to their final names

After a crash in step 1 something is still called `.cleaned`, the old segments are complete
and the new ones are dropped; in steps 2 and 3 the new ones are complete and the rest of
the steps is done when the log is opened (`moldau.log.leftovers`).
"""

from collections.abc import Sequence

from moldau.log import names
from moldau.log.log import Log
from moldau.log.segment import Segment


def replace_segments(
    log: Log, replaced: Sequence[Segment], replacements: Sequence[Segment], *, now_ms: int
) -> None:
    """Swap in `replacements`, whose files are called `.cleaned` and have been synced.

    `replaced` are consecutive segments of the log, none of them active; the first
    replacement begins at the base offset of the first of them.
    """
    assert log.segments.active not in replaced
    assert replacements[0].base_offset == replaced[0].base_offset
    with log.folder.volume.guard():
        for segment in reversed(replacements):
            segment.write_indexes()
            segment.rename(names.SWAP)
        kept = [segment.base_offset for segment in replacements]
        log.doom(replaced, now_ms=now_ms, kept_snapshots=kept)
        log.segments.replace(replaced, replacements)
        for segment in replacements:
            segment.rename("")
        log.note_names_changed()
