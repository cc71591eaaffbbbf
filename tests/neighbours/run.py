"""Tries software that uses Kafka, each against a new broker of ours.

bin/neighbours                    all of them
bin/neighbours nestjs goka        some of them
bin/neighbours mirrormaker -v     with what their programs and the broker log

Downloads stay in .cache or $MOLDAU_CACHE. Programs in Python need PyPI, those in JavaScript node 20
and npm, those in Go go 1.23. MirrorMaker and Debezium need Java 17 and Maven; Debezium needs
PostgreSQL, too. kafka_exporter is left out unless its program is in PATH.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from neighbours.exporting import Missing
from neighbours.trials import TRIALS


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="bin/neighbours",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", nargs="*", help=f"some of: {' '.join(TRIALS)}")
    parser.add_argument("-v", "--verbose", action="store_true", help="show logs")
    options = parser.parse_args()
    if unknown := set(options.name) - TRIALS.keys():
        parser.error(f"unknown: {' '.join(sorted(unknown))}; there are {' '.join(TRIALS)}")
    failed = 0
    for name in options.name or TRIALS:
        start = time.monotonic()
        try:
            failure = attempt(name, is_verbose=options.verbose)
        except Missing as missing:
            print(f"{name:14} left out: {missing}", flush=True)
            continue
        outcome = f"FAIL  {failure}" if failure else "ok"
        print(f"{name:14} {time.monotonic() - start:4.0f} s  {outcome}", flush=True)
        failed += bool(failure)
    return 1 if failed else 0


def attempt(name: str, *, is_verbose: bool) -> str:
    """Run one of them in a directory of its own; returns what went wrong."""
    kept = os.dup(2)
    if not is_verbose:
        sys.stderr.flush()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    try:
        with tempfile.TemporaryDirectory(prefix="moldau-neighbour-") as directory:
            TRIALS[name](Path(directory))
    except Missing:
        raise
    except Exception as error:  # noqa: BLE001 - the others are tried all the same
        return f"{type(error).__name__}: {error}"
    finally:
        os.dup2(kept, 2)
        os.close(kept)
    return ""


if __name__ == "__main__":
    sys.exit(main())
