"""Where a broker of this user keeps its data."""

import os
from pathlib import Path

from moldau.cli.terminal.options import Given, Option

DATA = Option(
    "data",
    "The broker's log.dirs, separated by commas; default: where `moldau serve` keeps its data.",
    "DIRECTORIES",
)


def default_directory() -> Path:
    """Where data is kept if nothing says where, not even a file: not in /tmp as with Apache Kafka.

    /tmp is emptied by a restart, and on many systems also of what is a few days old, under
    a broker that runs.
    """
    home = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    return Path(home) / "moldau"


def shown_directory() -> str:
    """The same for `--help`: with ~ for the user's home."""
    home = os.path.expanduser("~")
    directory = str(default_directory())
    return f"~{directory.removeprefix(home)}" if directory.startswith(f"{home}/") else directory


def data_directories(given: Given) -> list[str]:
    """The directories that the option names."""
    named = given.text("data", str(default_directory())).split(",")
    return [os.path.abspath(each.strip()) for each in named if each.strip()]
