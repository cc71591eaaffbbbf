"""Start a Connect worker with connectors from files, as Kafka's script does."""

import argparse
from collections.abc import Sequence

from moldau.cli.connecting.pipeline_file import read_connector
from moldau.cli.connecting.serving import serve_worker
from moldau.cli.terminal.client_settings import read_file
from moldau.cli.terminal.log_options import add_log_options, start_log

_DEFAULTS = {
    "group.id": "connect-standalone",
    "config.storage.topic": "connect-standalone-configs",
    "offset.storage.topic": "connect-standalone-offsets",
    "status.storage.topic": "connect-standalone-status",
    "offset.storage.partitions": "1",
    "status.storage.partitions": "1",
}


def main(arguments: Sequence[str]) -> int:
    """Run a worker until it is asked to stop; returns the exit code.

    Offsets are in a topic here, too: a file could not be changed together with the records.
    """
    parser = argparse.ArgumentParser(
        prog="moldau connect-standalone", allow_abbrev=False, description=__doc__
    )
    parser.add_argument("properties", metavar="WORKER.properties", help="settings of the worker")
    about = "settings of a connector"
    parser.add_argument("connectors", nargs="+", metavar="CONNECTOR.properties|json", help=about)
    parser.add_argument(
        "--users", metavar="FILE", help="a file of users who may use REST, see docs/connect.md"
    )
    add_log_options(parser)
    options = parser.parse_args([each for each in arguments if each != "-daemon"])
    connectors = dict(map(read_connector, options.connectors))
    start_log(options)
    serve_worker({**_DEFAULTS, **read_file(options.properties)}, connectors, options.users)
    return 0
