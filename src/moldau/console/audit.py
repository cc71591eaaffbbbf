"""Keeps a line of JSON for every change, and for every look at records."""

import json
import logging
import time
from collections.abc import Callable, Mapping

_log = logging.getLogger(__name__)


class AuditTrail:
    """Appends to a file, or to the log where there is none; `also` gets each line."""

    def __init__(self, path: str | None = None, also: Callable[[str], None] | None = None) -> None:
        self._path = path
        self._also = also

    def note(self, actor: str, action: str, status: int, details: Mapping[str, object]) -> None:
        """One thing that was done, or refused."""
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        line = {"at": now, "actor": actor, "action": action, "status": status, **details}
        text = json.dumps(line, default=str)
        if self._also is not None:
            self._also(text)
        if self._path is None:
            _log.info("audit %s", text)
            return
        with open(self._path, "a", encoding="utf-8") as file:
            file.write(text + "\n")
