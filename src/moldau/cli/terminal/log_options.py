"""Options of commands that write a log: how much of it, and in which form."""

import argparse
import os

from moldau.runtime.logs import LEVELS, log_to_stderr

_VARIABLE = "MOLDAU_LOG_LEVEL"


def add_log_options(parser: argparse.ArgumentParser) -> None:
    """The same names and defaults for every such command."""
    parser.add_argument(
        "--log-level",
        choices=LEVELS,
        default=os.environ.get(_VARIABLE, "info").lower(),
        help=f"the least that is written; default: info, or ${_VARIABLE}",
    )
    parser.add_argument(
        "--log-format",
        choices=("text", "json"),
        default="text",
        help="text as Kafka writes it, the default, or an object of JSON in each line",
    )


def start_log(options: argparse.Namespace) -> None:
    """Write it to standard error, as the options say."""
    log_to_stderr(options.log_level, options.log_format)
