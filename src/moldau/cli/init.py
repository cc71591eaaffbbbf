"""Write configuration files to begin with: a broker's, systemd's, a container's, Prometheus'."""

import os
from collections.abc import Sequence
from pathlib import Path

from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.options import Option, Options

TEMPLATES = Path(__file__).parent / "templates"
KINDS = {
    "broker": ("server.properties",),
    "systemd": ("server.properties", "moldau.service"),
    "container": ("Containerfile", "compose.yaml", "prometheus.yml", "moldau-alerts.yml"),
    "monitoring": ("prometheus.yml", "moldau-alerts.yml", "grafana-dashboard.json"),
}
OPTIONS = Options(
    "init",
    f"Writes files for each KIND: {', '.join(KINDS)}; default: broker. A file that is there "
    "already is left as it is.",
    Option("to", "The directory to write to; default: this one.", "DIRECTORY"),
    arguments="[KIND...]",
)


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    given = OPTIONS.parse(arguments)
    kinds = given.rest or ["broker"]
    for kind in kinds:
        if kind not in KINDS:
            raise CommandFailed(f"there is no kind {kind!r}; there is: {', '.join(KINDS)}")
    directory = given.text("to", ".")
    os.makedirs(directory, exist_ok=True)
    for name in dict.fromkeys(name for kind in kinds for name in KINDS[kind]):
        target = Path(directory, name)
        if target.exists():
            print(f"{target} is there already, and left as it is")
            continue
        target.write_bytes((TEMPLATES / name).read_bytes())
        print(f"{target}")
    return 0
