"""Reference pages that are made of the code: metrics, commands, and the Python API."""

import contextlib
import io
import re

import interfaces
from moldau.broker.metrics.health import Health
from moldau.cli.main import commands, main, summary
from moldau.testing.broker import running_broker

_HELP = re.compile(r"^# HELP (\w+) (.*)$", re.MULTILINE)
_TYPE = re.compile(r"^# TYPE (\w+) (\w+)$", re.MULTILINE)


def pages() -> dict[str, str]:
    """All of them, by the name of the file."""
    made = {"metrics.md": metrics_page(), "commands.md": commands_page()}
    return made | interfaces.pages()


def metrics_page() -> str:
    """Every metric of a broker, as it describes it itself."""
    with running_broker() as kafka:
        health = Health()
        health.broker = kafka.running.broker
        page = health.pages()["/metrics"]
        text = kafka.look(lambda _: "".join(page.lines()))
    kinds = dict(_TYPE.findall(text))
    lines = [
        "# Metrics",
        "",
        "What `/metrics` of a broker has. [Monitoring](../monitoring.md) says",
    ]
    lines += ["how to get there, and what to watch.", "", "| Metric | Type | |", "|---|---|---|"]
    for name, about in sorted(_HELP.findall(text)):
        lines.append(f"| `{name}` | {kinds.get(name, '')} | {_cell(about)} |")
    return "\n".join([*lines, ""])


def commands_page() -> str:
    """What `--help` of every command prints."""
    lines = ["# All commands", ""]
    for name, path in commands().items():
        lines += [f"## moldau {name}", "", f"{summary(path)}.", "", "```text"]
        lines += [help_of(name).rstrip(), "```", ""]
    return "\n".join(lines)


def help_of(command: str) -> str:
    """What a command prints for `--help`."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        main([command, "--help"])
    return printed.getvalue()


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
