"""Ask a broker whether it serves, for health checks of containers and scripts."""

import http.client
from collections.abc import Sequence

from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.options import Option, Options

OPTIONS = Options(
    "health",
    "Asks /readyz on the port that `moldau serve --metrics-port` names: prints the answer, and "
    "ends with 0 if the broker serves, else with 1.",
    Option("host", "Where the broker is; default: localhost.", "HOST"),
    Option("port", "Its metrics port; default: 9308.", "PORT", kind=int),
    Option("alive", "Ask /healthz instead: whether the process runs, also while it starts."),
)
_TIMEOUT_S = 4


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    given = OPTIONS.parse(arguments)
    host, port = given.text("host", "localhost"), given.number("port", 9308)
    connection = http.client.HTTPConnection(host, port, timeout=_TIMEOUT_S)
    try:
        connection.request("GET", "/healthz" if "alive" in given else "/readyz")
        answer = connection.getresponse()
        text = answer.read().decode(errors="replace").strip()
    except (OSError, http.client.HTTPException) as error:
        raise CommandFailed(f"{host}:{port} does not answer: {error}") from error
    finally:
        connection.close()
    print(text)
    return 0 if answer.status == http.HTTPStatus.OK else 1
