"""Stop the ZooKeeper servers that this installation has started (zookeeper-server-stop.sh)."""

from collections.abc import Sequence

from moldau.cli.terminal.options import Options
from moldau.cli.terminal.servers import is_zookeeper, stop_servers

OPTIONS = Options(
    "zookeeper-server-stop",
    "Sends the signal TERM, or that which SIGNAL names, to ZooKeeper servers of this user.",
)


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    OPTIONS.parse(arguments)
    return stop_servers("zookeeper", is_zookeeper)
