"""Reference pages that are made of the code: metrics, commands, and the Python API."""

import ast
import contextlib
import io
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from moldau.broker.metrics.health import Health
from moldau.cli.main import commands, main, summary
from moldau.testing.broker import running_broker

# What users import -> what they find there.
INTERFACES = {
    "moldau": (
        "client/producer/producer.py",
        "client/consumer/consumer.py",
        "client/admin/admin.py",
        "client/arrow/reading.py",
    ),
    "moldau.client.blocking": (
        "client/blocking/producer.py",
        "client/blocking/consumer.py",
        "client/blocking/admin.py",
    ),
    "moldau.testing": ("testing/broker.py", "testing/plugin.py"),
    "moldau.spark": ("spark/source.py", "spark/exactly_once.py", "spark/java.py"),
    "moldau.streams": (
        "streams/builder.py",
        "streams/stream.py",
        "streams/table.py",
        "streams/grouped.py",
    ),
    "moldau.errors": ("errors.py",),
}
_HELP = re.compile(r"^# HELP (\w+) (.*)$", re.MULTILINE)
_TYPE = re.compile(r"^# TYPE (\w+) (\w+)$", re.MULTILINE)


def pages(root: Path) -> dict[str, str]:
    """All of them, by the name of the file."""
    made = {"metrics.md": metrics_page(), "commands.md": commands_page()}
    for name, modules in INTERFACES.items():
        sources = [root / "src" / "moldau" / module for module in modules]
        made[f"api-{name.replace('.', '-')}.md"] = interface_page(name, sources)
    return made


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


def interface_page(name: str, sources: list[Path]) -> str:
    """The public classes and functions of some modules, by their docstrings."""
    exported = getattr(import_module(name), "__all__", None)
    lines = [f"# {name}", ""]
    for source in sources:
        tree = ast.parse(source.read_text(encoding="utf-8"))
        for node in tree.body:
            if _is_exported(node, exported):
                lines += _described(node, "##")
    return "\n".join(lines)


def _is_exported(node: ast.stmt, exported: list[str] | None) -> bool:
    """Classes that exported ones return are part of an interface, other functions are not."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return exported is None or node.name in exported
    return True


def _described(node: ast.stmt, heading: str) -> Iterator[str]:
    if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return
    about = ast.get_docstring(node)
    if node.name.startswith("_") or about is None or _is_overload(node):
        return
    yield from (f"{heading} {node.name}", "", "```python", _signature(node), "```", "", about, "")
    if isinstance(node, ast.ClassDef):
        for part in node.body:
            yield from _described(part, heading + "#")


def _signature(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    if isinstance(node, ast.ClassDef):
        bases = ", ".join(map(ast.unparse, node.bases))
        return f"class {node.name}({bases})" if bases else f"class {node.name}"
    start = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    line = f"{start} {node.name}({ast.unparse(node.args)}){result}"
    if len(line) <= 90:
        return line
    parts = ",\n    ".join(_arguments(node.args))
    return f"{start} {node.name}(\n    {parts},\n){result}"


def _arguments(arguments: ast.arguments) -> Iterator[str]:
    text = ast.unparse(arguments)
    depth = start = 0
    for place, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            yield text[start:place].strip()
            start = place + 1
    yield text[start:].strip()


def _is_overload(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any("overload" in ast.unparse(each) for each in node.decorator_list)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
