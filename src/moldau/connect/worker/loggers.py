"""Levels of loggers, by the names that Connect's REST interface has for them."""

import logging
import time

_LEVELS = {
    "TRACE": logging.DEBUG - 5,
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARN": logging.WARNING,
    "ERROR": logging.ERROR,
    "FATAL": logging.CRITICAL,
    "OFF": logging.CRITICAL + 10,
}
_ROOT = "root"


class Loggers:
    """Reads and sets levels in this process."""

    def __init__(self) -> None:
        self._modified: dict[str, int] = {}

    def all(self) -> dict[str, dict[str, object]]:
        """Those whose level is set."""
        known = {_ROOT: logging.getLogger()} | {
            name: logger
            for name, logger in sorted(logging.Logger.manager.loggerDict.items())
            if isinstance(logger, logging.Logger) and logger.level != logging.NOTSET
        }
        return {name: self._entry(name, logger) for name, logger in known.items()}

    def one(self, name: str) -> dict[str, object] | None:
        """The level of a logger that is known."""
        if name == _ROOT:
            return self._entry(name, logging.getLogger())
        found = logging.Logger.manager.loggerDict.get(name)
        return self._entry(name, found) if isinstance(found, logging.Logger) else None

    def set(self, name: str, level: str) -> list[str] | None:
        """Set the level of a logger and of all below it; None if there is no such level."""
        number = _LEVELS.get(level.upper())
        if number is None:
            return None
        logging.getLogger("" if name == _ROOT else name).setLevel(number)
        below = [
            each
            for each, logger in logging.Logger.manager.loggerDict.items()
            if each.startswith(f"{name}.") and isinstance(logger, logging.Logger)
        ]
        for each in below:
            logging.getLogger(each).setLevel(number)
        changed = sorted([name, *below])
        self._modified |= dict.fromkeys(changed, int(time.time() * 1000))
        return changed

    def _entry(self, name: str, logger: logging.Logger) -> dict[str, object]:
        number = logger.getEffectiveLevel()
        level = next((each for each, known in _LEVELS.items() if known >= number), "OFF")
        return {"level": level, "last_modified": self._modified.get(name)}
