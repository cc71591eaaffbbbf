"""kazoo's log lines, without what nodes contain: among it are users' keys and settings.

At DEBUG kazoo logs whole requests and answers, the secret of its session included.
"""

import logging

_SHOWN = (str, int, float, type(None), BaseException)


class WithoutContents(logging.Filter):
    """Leaves the kind of a request, and the path that it is about."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(map(_outline, record.args))
        return True


def _outline(value: object) -> object:
    if isinstance(value, _SHOWN):
        return value
    path = getattr(value, "path", "")
    return f"{type(value).__name__} {path}".strip()


def kazoo_logger() -> logging.Logger:
    """kazoo's own, with its secrets taken out."""
    logger = logging.getLogger("kazoo.client")
    logger.addFilter(_FILTER)
    return logger


_FILTER = WithoutContents()
