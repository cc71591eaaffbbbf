"""Levels of the broker's loggers, seen and set as Kafka's administrators do (KIP-412)."""

import logging
from collections.abc import Iterable

from moldau.config.alteration import Alteration, AlterOperation
from moldau.errors import ErrorCode, KafkaError

ROOT = "root"
_LEVELS = {
    "TRACE": logging.DEBUG,
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARN": logging.WARNING,
    "ERROR": logging.ERROR,
    "FATAL": logging.CRITICAL,
}
_NAMES = {level: name for name, level in _LEVELS.items()}


def levels() -> dict[str, str]:
    """The level of every logger, by its name."""
    known = logging.root.manager.loggerDict
    names = [ROOT, *sorted(name for name, one in known.items() if isinstance(one, logging.Logger))]
    return {name: _level(_logger(name)) for name in names}


def alter(alterations: Iterable[Alteration], *, is_only_checked: bool) -> None:
    """Set levels, or take them back; nothing changes if one of them cannot be."""
    wanted = list(alterations)
    known = levels()
    for alteration in wanted:
        _check(alteration, known)
    if is_only_checked:
        return
    for alteration in wanted:
        is_set = alteration.operation is AlterOperation.SET
        level = _LEVELS[alteration.value or ""] if is_set else logging.NOTSET
        _logger(alteration.name).setLevel(level)


def _check(alteration: Alteration, known: dict[str, str]) -> None:
    name = alteration.name
    if name not in known:
        raise KafkaError(ErrorCode.INVALID_CONFIG, f"Logger {name} does not exist!")
    if alteration.operation is AlterOperation.DELETE:
        if name == ROOT:
            message = f"Removing the log level of the {ROOT} logger is not allowed"
            raise KafkaError(ErrorCode.INVALID_REQUEST, message)
    elif alteration.operation is not AlterOperation.SET:
        message = f"{alteration.operation.name} operation is not allowed for the BROKER_LOGGER"
        raise KafkaError(ErrorCode.INVALID_REQUEST, message)
    elif alteration.value not in _LEVELS:
        allowed = ", ".join(_LEVELS)
        message = f"Cannot set the log level of {name} to {alteration.value}: must be {allowed}"
        raise KafkaError(ErrorCode.INVALID_CONFIG, message)


def _logger(name: str) -> logging.Logger:
    return logging.getLogger(None if name == ROOT else name)


def _level(logger: logging.Logger) -> str:
    level = logger.getEffectiveLevel()
    return _NAMES.get(level) or max(
        (name for name, at in _LEVELS.items() if at <= level),
        default="DEBUG",
        key=_LEVELS.__getitem__,
    )
