"""The running broker's part in a backup: it freezes its files when it is asked to.

A file in the first log directory asks, so that all who may read the data may back it up, and
nobody else; it works from another container that has the same volume, too.
"""

import asyncio
import json
import logging
import os
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from moldau.cli.backups.files import LINKS, linked, remove_links
from moldau.coordination.journal import FILE_NAME as STORE
from moldau.runtime.disk import PosixDisk, write_atomically
from moldau.runtime.threads import in_thread

_log = logging.getLogger(__name__)

REQUEST = ".backup.request"
ANSWER = ".backup.answer"
POLL_S = 0.5

CopyStore = Callable[[str], Awaitable[None]]


async def answer_backups(directories: Sequence[str], copy_store: CopyStore) -> None:
    """Look for requests as long as the broker runs."""
    while True:
        await asyncio.sleep(POLL_S)
        if _is_asked(directories[0]):
            await answer_backup(directories, copy_store)


def _is_asked(directory: str) -> bool:
    return os.path.exists(f"{directory}/{REQUEST}")


async def answer_backup(directories: Sequence[str], copy_store: CopyStore) -> None:
    """Freeze all directories and say which files they hold, or why that failed."""
    first = directories[0]
    try:
        os.remove(f"{first}/{REQUEST}")
        try:
            answer = await _freeze(directories, copy_store)
        except OSError as error:
            _log.error("Failed to prepare a backup: %s", error)
            answer = {"error": f"{error.filename}: {error.strerror}"}
        write_atomically(PosixDisk(), f"{first}/{ANSWER}", json.dumps(answer).encode())
    except OSError as error:
        # Not even that can be written; the broker goes on, and the command gives up in time.
        _log.error("Failed to answer a request for a backup: %s", error)


async def _freeze(directories: Sequence[str], copy_store: CopyStore) -> dict[str, object]:
    for directory in directories:
        await in_thread(partial(remove_links, directory))
    # Nothing else runs meanwhile: one instant for all directories.
    frozen = [(path, linked(path, omitted=[STORE])) for path in directories]
    # The store last: it must know every producer id that the logs have met.
    await copy_store(f"{directories[0]}/{LINKS}/{STORE}")
    _log.info("prepared a backup of %d files", sum(len(sizes) for _, sizes in frozen))
    return {"directories": frozen}
