"""Log lines: one per event, for people or for programs."""

import io
import json
import logging
import re
from collections.abc import Iterator

import pytest

from moldau.runtime.logs import log_to_stderr


@pytest.fixture(autouse=True)
def _own_handlers() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def test_a_text_line_looks_like_kafkas() -> None:
    stream = io.StringIO()
    log_to_stderr("info", stream=stream)
    logging.getLogger("moldau.log").warning("%d segments", 3)
    logging.getLogger("moldau.log").debug("not shown")
    pattern = r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] WARN 3 segments \(moldau\.log\)\n"
    assert re.fullmatch(pattern, stream.getvalue())


def test_a_name_from_outside_cannot_write_lines_or_colours() -> None:
    stream = io.StringIO()
    log_to_stderr("info", stream=stream)
    logging.getLogger("moldau.log").info("group %s", "a\tb\r\n[2026] FATAL \x1b[31m \x9b ü")
    (line,) = stream.getvalue().splitlines()
    assert "INFO group a\tb\\r\\n[2026] FATAL \\x1b[31m \\x9b ü (moldau.log)" in line


def test_a_json_line_holds_everything_and_a_traceback_in_one_line() -> None:
    stream = io.StringIO()
    log_to_stderr("info", "json", stream=stream)
    try:
        int("grün")
    except ValueError:
        logging.getLogger("moldau.log").exception("it failed")
    (line,) = stream.getvalue().splitlines()
    said = json.loads(line)
    assert (said["level"], said["logger"], said["message"]) == ("error", "moldau.log", "it failed")
    assert said["exception"].endswith("'grün'")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", said["time"])
