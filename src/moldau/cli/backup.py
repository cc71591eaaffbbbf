"""Copy a broker's data to a directory while it runs."""

import os
import time
from collections.abc import Sequence

from moldau.cli.backups.archive import write_archive
from moldau.cli.backups.asking import frozen_directories
from moldau.cli.terminal.data_directory import DATA, data_directories
from moldau.cli.terminal.options import Option, Options

OPTIONS = Options(
    "backup",
    "Copies all topics, offsets, settings and users of a broker that runs without ZooKeeper, as "
    "they are at one instant, running or not. `moldau restore` makes log directories of it again.",
    Option("to", "A directory that is new or empty.", "DIRECTORY"),
    DATA,
)


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    given = OPTIONS.parse(arguments)
    given.require("to")
    target = os.path.abspath(given.text("to"))
    with frozen_directories(data_directories(given)) as frozen:
        created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        done = write_archive(frozen, target, created=created)
    print(f"{target}: {done.files} files, {done.size / 1e6:,.1f} MB")
    return 0
