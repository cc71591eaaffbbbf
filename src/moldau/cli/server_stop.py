"""Stop the brokers that this installation has started (kafka-server-stop.sh)."""

from collections.abc import Sequence

from moldau.cli.terminal.options import Options
from moldau.cli.terminal.servers import is_broker, stop_servers

OPTIONS = Options(
    "server-stop", "Sends the signal TERM, or that which SIGNAL names, to brokers of this user."
)


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    OPTIONS.parse(arguments)
    return stop_servers("kafka", is_broker)
