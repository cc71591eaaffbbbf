"""Notifies the controller of failed log directories, so that others lead what is there."""

import asyncio
import logging
from collections.abc import Sequence

from moldau.coordination.layout import log_dirs as log_dir_nodes
from moldau.coordination.tree import Create, SessionError, Tree
from moldau.log.directory import LogDirectory

_log = logging.getLogger(__name__)


class FailedDirectories:
    """Looks at the directories now and then; one that has failed stays so until a restart."""

    def __init__(
        self,
        directories: Sequence[LogDirectory],
        tree: Tree,
        broker_id: int,
        *,
        interval_s: float = 0.5,
    ) -> None:
        self._directories = directories
        self._tree = tree
        self._broker_id = broker_id
        self._interval_s = interval_s
        # Those that failed before the start are no news: their logs were never opened.
        self._reported = {one.volume.path: None for one in directories if not one.volume.is_online}

    async def run(self) -> None:
        """Look, and notify the controller, until cancelled."""
        while True:
            await asyncio.sleep(self._interval_s)
            failed = [one.volume.path for one in self._directories if not one.volume.is_online]
            new = [path for path in failed if path not in self._reported]
            if new:
                await self._notify_controller(new)

    async def _notify_controller(self, paths: Sequence[str]) -> None:
        data = log_dir_nodes.encode_log_dir_failure(self._broker_id)
        try:
            await self._tree.create(Create(log_dir_nodes.EVENT_PREFIX, data, is_sequential=True))
        except SessionError as error:
            _log.warning(
                "Failed to notify the controller of offline directories %s: %s", paths, error
            )
        else:
            self._reported |= dict.fromkeys(paths)
