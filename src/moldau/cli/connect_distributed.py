"""Start a Connect worker whose connectors are kept in topics, as Kafka's script does."""

import argparse
from collections.abc import Sequence

from moldau.cli.connecting.serving import serve_worker
from moldau.cli.terminal.client_settings import read_file
from moldau.runtime.logs import LEVELS, log_to_stderr


def main(arguments: Sequence[str]) -> int:
    """Run a worker until it is asked to stop; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="moldau connect-distributed", allow_abbrev=False, description=__doc__
    )
    parser.add_argument("properties", metavar="WORKER.properties")
    parser.add_argument("--users", metavar="FILE", help="who may use REST, see docs/connect.md")
    parser.add_argument("--log-level", choices=LEVELS, default="info")
    options = parser.parse_args([each for each in arguments if each != "-daemon"])
    log_to_stderr(options.log_level, "text")
    serve_worker(read_file(options.properties), users=options.users)
    return 0
