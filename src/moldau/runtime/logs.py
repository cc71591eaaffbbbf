"""Log lines: one per event, for people or for programs.

The text format is that of Kafka's own log files, so that what reads them goes on working.
"""

import json
import logging
import sys
import time
from typing import TextIO

LEVELS = ("debug", "info", "warning", "error")

# Names of groups and clients come from strangers. A line break in one would let it write log lines
# of its own, an escape sequence would reach the terminal of the person who reads them.
_CONTROL_CHARACTERS = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0))}
_CONTROL_CHARACTERS |= {ord("\t"): "\t", ord("\n"): "\\n", ord("\r"): "\\r"}


class TextFormatter(logging.Formatter):
    """`[2026-01-31 12:00:00,123] INFO message (logger)`."""

    default_msec_format = "%s,%03d"

    def __init__(self) -> None:
        super().__init__("[%(asctime)s] %(levelname)s %(message)s (%(name)s)")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        record.levelname = {"WARNING": "WARN", "CRITICAL": "FATAL"}.get(
            record.levelname, record.levelname
        )
        record.message = record.message.translate(_CONTROL_CHARACTERS)
        return super().formatMessage(record)


class JsonFormatter(logging.Formatter):
    """One JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line = {
            "time": f"{seconds}.{int(record.msecs):03}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def log_to_stderr(level: str, style: str = "text", stream: TextIO = sys.stderr) -> None:
    """Let every logger of this process write there, from `level` on."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter() if style == "json" else TextFormatter())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    # Rarely of use, and they cost a look at the stack or the process each.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    # asyncio says "Using selector" on every start.
    logging.getLogger("asyncio").setLevel(logging.WARNING)
