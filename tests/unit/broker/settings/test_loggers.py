"""Levels of loggers, under Kafka's names."""

import logging
from collections.abc import Iterator

import pytest

from moldau.broker.settings import loggers
from moldau.config.alteration import Alteration, AlterOperation
from moldau.errors import ErrorCode, KafkaError

NAME = "moldau.test.loggers"


@pytest.fixture(autouse=True)
def logger() -> Iterator[logging.Logger]:
    logger = logging.getLogger(NAME)
    yield logger
    logger.setLevel(logging.NOTSET)


def alter(*alterations: Alteration, is_only_checked: bool = False) -> None:
    loggers.alter(alterations, is_only_checked=is_only_checked)


@pytest.mark.parametrize(
    ("level", "name"),
    [(logging.WARNING, "WARN"), (logging.CRITICAL, "FATAL"), (25, "INFO"), (5, "DEBUG")],
)
def test_levels_have_kafkas_names(logger: logging.Logger, level: int, name: str) -> None:
    logger.setLevel(level)
    assert loggers.levels()[NAME] == name


def test_a_logger_without_a_level_has_the_one_above(logger: logging.Logger) -> None:
    assert loggers.levels()[NAME] == loggers.levels()["root"]


def test_a_level_is_set_and_taken_back(logger: logging.Logger) -> None:
    alter(Alteration(NAME, AlterOperation.SET, "ERROR"))
    assert logger.level == logging.ERROR
    alter(Alteration(NAME, AlterOperation.DELETE))
    assert logger.level == logging.NOTSET


def test_what_is_only_checked_changes_nothing(logger: logging.Logger) -> None:
    alter(Alteration(NAME, AlterOperation.SET, "ERROR"), is_only_checked=True)
    assert logger.level == logging.NOTSET


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (Alteration("no.such", AlterOperation.SET, "INFO"), ErrorCode.INVALID_CONFIG),
        (Alteration("root", AlterOperation.DELETE), ErrorCode.INVALID_REQUEST),
        (Alteration(NAME, AlterOperation.APPEND, "INFO"), ErrorCode.INVALID_REQUEST),
        (Alteration(NAME, AlterOperation.SET, "LOUD"), ErrorCode.INVALID_CONFIG),
    ],
)
def test_one_bad_change_keeps_all_from_being_made(
    logger: logging.Logger, bad: Alteration, code: ErrorCode
) -> None:
    with pytest.raises(KafkaError) as refused:
        alter(Alteration(NAME, AlterOperation.SET, "ERROR"), bad)
    assert refused.value.code == code
    assert logger.level == logging.NOTSET
