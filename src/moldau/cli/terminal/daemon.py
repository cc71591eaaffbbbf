"""Servers that are left behind, by the options of Kafka's scripts that start them."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from moldau.cli.terminal.failure import CommandFailed

_FOR_JAVA = "-loggc"
_DAEMON = "-daemon"
_NAME = "-name"


def without_script_options(arguments: Sequence[str]) -> tuple[list[str], bool]:
    """What stands behind the options of Kafka's scripts, and whether `-daemon` is one of them."""
    rest, is_daemon = list(arguments), False
    while rest and rest[0] in (_DAEMON, _FOR_JAVA, _NAME):
        is_daemon |= rest[0] == _DAEMON
        del rest[: 2 if rest[0] == _NAME else 1]
    return rest, is_daemon


def leave_behind(command: str, output: str, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start a command that outlives this one; what it says goes to a file in `LOG_DIR`."""
    directory = Path(os.environ.get("LOG_DIR") or "logs")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with (directory / output).open("wb") as file:
            return subprocess.Popen(  # noqa: S603 - our own command
                [sys.executable, "-m", "moldau", command, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                start_new_session=True,
            )
    except OSError as error:
        raise CommandFailed(
            f"{directory / output}: {error.strerror}; name another directory by the variable "
            "LOG_DIR"
        ) from error
