"""Levels of loggers are read and set by Connect's names."""

import logging

from moldau.connect.worker.loggers import Loggers


def test_a_level_is_set_for_a_logger_and_those_below_it() -> None:
    logging.getLogger("moldau.x.y")
    loggers = Loggers()
    assert loggers.set("moldau.x", "debug") == ["moldau.x", "moldau.x.y"]
    found = loggers.one("moldau.x.y")
    assert found is not None
    assert found["level"] == "DEBUG"
    assert isinstance(found["last_modified"], int)
    assert loggers.all()["moldau.x"]["level"] == "DEBUG"
    logging.getLogger("moldau.x").setLevel(logging.NOTSET)
    logging.getLogger("moldau.x.y").setLevel(logging.NOTSET)


def test_unknown_levels_and_loggers_are_none() -> None:
    assert Loggers().set("moldau.x", "bad") is None
    assert Loggers().one("no.such.logger") is None
    root = Loggers().one("root")
    assert root is not None
