"""Copy a table, a file or another cluster's topic into a topic, or a topic out, once."""

import argparse
from collections.abc import Sequence

from moldau.cli.connecting.addresses import parse_address, warn_if_visible
from moldau.cli.connecting.ingestion import FORMATS, Ingestion, ingest
from moldau.cli.terminal.client_settings import read_file, read_pairs
from moldau.cli.terminal.web_address import address_with_login

_EPILOG = """addresses:
  kafka://HOST:PORT[,HOST:PORT]/TOPIC
  postgresql://USER@HOST/DATABASE?table=T   sqlite:FILE?table=T
  mariadb://USER@HOST/DATABASE?table=T      duckdb:FILE?table=T
    as a source: &incrementing=COLUMN &timestamp=COLUMN, or &mode=bulk
    as a target: &key=COLUMN changes rows that are there
  parquet:FILE  csv:FILE  jsonl:FILE        or a directory of such files
    as a target always a directory, also delta:DIRECTORY

examples:
  moldau ingest postgresql://localhost/shop?table=orders kafka://localhost:9092/orders
  moldau ingest kafka://localhost:9092/orders parquet:/data/orders
  moldau ingest kafka://other:9092/orders kafka://localhost:9092/orders
"""


def main(arguments: Sequence[str]) -> int:
    """Copy, and say how much; returns the exit code."""
    options = _parser().parse_args(arguments)
    registry = address_with_login(options.registry, "--registry") if options.registry else None
    for address in (options.source, options.target):
        warn_if_visible(address)
    ingestion = Ingestion(
        parse_address(options.source),
        parse_address(options.target),
        options.format,
        registry,
        options.key,
        read_file(options.command_config),
        read_pairs(options.set),
        options.again,
        options.follow,
    )
    print(ingest(ingestion))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="moldau ingest",
        description=__doc__,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("source", metavar="SOURCE-URI", help="where records come from")
    parser.add_argument("target", metavar="TARGET-URI", help="where they go")
    parser.add_argument("--follow", action="store_true", help="continue at the end, until stopped")
    parser.add_argument(
        "--again", action="store_true", help="copy everything once more, from the beginning"
    )
    parser.add_argument(
        "--format",
        choices=FORMATS,
        default="json",
        help="the format of values in the topic; default: json",
    )
    parser.add_argument("--registry", metavar="URL", help="the registry of their schemas")
    parser.add_argument("--key", metavar="FIELD", help="the field that is the key of a record")
    parser.add_argument(
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="a setting of the connector; may be repeated",
    )
    parser.add_argument(
        "--command-config",
        metavar="FILE",
        default="",
        help="a file with settings of Kafka's clients; source.cluster.* are for the other cluster",
    )
    return parser
