"""Start a Connect worker whose connectors are kept in topics, as Kafka's script does."""

import argparse
from collections.abc import Sequence

from moldau.cli.connecting.serving import serve_worker
from moldau.cli.terminal.client_settings import read_file
from moldau.cli.terminal.log_options import add_log_options, start_log


def main(arguments: Sequence[str]) -> int:
    """Run a worker until it is asked to stop; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="moldau connect-distributed", allow_abbrev=False, description=__doc__
    )
    parser.add_argument("properties", metavar="WORKER.properties", help="settings of the worker")
    parser.add_argument(
        "--users", metavar="FILE", help="a file of users who may use REST, see docs/connect.md"
    )
    add_log_options(parser)
    options = parser.parse_args([each for each in arguments if each != "-daemon"])
    start_log(options)
    serve_worker(read_file(options.properties), users=options.users)
    return 0
