"""Restore a broker's data from a backup."""

from collections.abc import Sequence

from moldau.cli.backups.archive import restore_archive
from moldau.cli.terminal.data_directory import DATA, data_directories
from moldau.cli.terminal.options import Option, Options

OPTIONS = Options(
    "restore",
    "Copies what `moldau backup` has written to log directories that are new or empty, and checks "
    "every file on the way. The broker that is started on them has the same id and cluster id.",
    Option("from", "The directory that `moldau backup --to` has written.", "DIRECTORY"),
    DATA,
)


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    given = OPTIONS.parse(arguments)
    given.require("from")
    targets = data_directories(given)
    done = restore_archive(given.text("from").rstrip("/"), targets)
    print(f"{','.join(targets)}: {done.files} files, {done.size / 1e6:,.1f} MB")
    return 0
