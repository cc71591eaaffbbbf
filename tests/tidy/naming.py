"""Names under which god files start, and what may stand in an `__init__.py`."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tidy.sources import Violation, code_files, is_within, package_modules, parse, place

VAGUE_NAMES = {"common", "core", "helper", "helpers", "manager", "misc", "util", "utils"}
VAGUE_CLASS = re.compile(r"(Manager|Helpers?|Utils?|Impl)$")

# Their classes are named as Kafka names requests, answers and what stands in them.
MESSAGES = ("moldau.protocol.messages",)
# Public names that two modules may have, each with its reason.
SHARED_NAMES = {
    "Admin": "the blocking form has the name of the other",
    "Consumer": "the blocking form has the name of the other",
    "Context": "of a processor by Kafka Streams' own name, and of every request",
    "Field": "of a struct by Kafka Connect's own name, and of a message",
    "Filter": "a transformation by Kafka Connect's own name, and a step by Kafka Streams'",
    "Producer": "the blocking form has the name of the other; in a batch it is who wrote it",
    "Record": "what a processor gets, by Kafka Streams' own name, and a record of the log",
    "Schema": "of data by Kafka Connect's own name, and of a registry",
    "Sink": "a connector by Kafka Connect's own name, and a step by Kafka Streams'",
    "Source": "a connector by Kafka Connect's own name, and a step by Kafka Streams'",
    "Task": "of a connector by Kafka Connect's own name, and of a simulated loop",
}


def vague_files(root: Path) -> Iterator[Violation]:
    for path in code_files(root, ".py", ".c", ".sh"):
        parts = {*path.relative_to(root).parts[:-1], path.stem.removeprefix("test_")}
        for name in sorted(parts & VAGUE_NAMES):
            yield Violation(place(root, path), "vague_files", f"say what is in {name!r}")


def vague_classes(root: Path) -> Iterator[Violation]:
    for _, path in package_modules(root):
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.ClassDef) and VAGUE_CLASS.search(node.name):
                where = f"{place(root, path)}:{node.name}"
                yield Violation(where, "vague_classes", "say what it is")


def docstrings(root: Path) -> Iterator[Violation]:
    """A module's first line is its responsibility."""
    for path in code_files(root, ".py"):
        first_line = (ast.get_docstring(parse(path)) or "").split("\n")[0]
        if not first_line:
            yield Violation(place(root, path), "docstrings", "the module has none")


def bare_packages(root: Path) -> Iterator[Violation]:
    """`__init__.py` holds a docstring and exports, nothing that runs."""
    for _, path in package_modules(root):
        if path.name != "__init__.py":
            continue
        for node in parse(path).body:
            if not is_docstring_or_export(node):
                yield Violation(place(root, path), "bare_packages", f"line {node.lineno}")


def equal_class_names(root: Path) -> Iterator[Violation]:
    """A public name means one thing; those of messages are Kafka's own."""
    for name, paths in public_classes(root).items():
        for path in paths if name not in SHARED_NAMES and len(paths) > 1 else ():
            others = ", ".join(place(root, other) for other in paths if other != path)
            where = f"{place(root, path)}:{name}"
            yield Violation(where, "equal_class_names", f"also in {others}")


def public_classes(root: Path) -> dict[str, list[Path]]:
    """The modules that define a class of each public name, one after the other."""
    found: dict[str, list[Path]] = {}
    for module, path in package_modules(root):
        for node in parse(path).body if not is_within(module, MESSAGES) else ():
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(path)
    return found


def is_docstring_or_export(node: ast.stmt) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return True
    if isinstance(node, ast.Assign):
        target = ast.unparse(node.targets[0])
        return target.startswith("__") and target.endswith("__")
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
