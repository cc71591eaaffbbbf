"""Which module imports which, and the rules that need all of it: cycles, modules without use."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from tidy.sources import Violation, package_modules, parse, place

# A module is used by these, and by pages that show how. Tests use `moldau.testing` besides.
USERS = ("src/**/*.py", "bin/**/*", "bench/**/*.py", "examples/**/*.py")
PAGES = ("README.md", "pyproject.toml", "docs/**/*.md")
TESTS = ("tests/**/*.py",)
FOR_TESTS = "moldau.testing."
# Found by the names of their files: commands by cli/main.py, messages by protocol/apis.py.
FOUND_BY_FILE = re.compile(r"moldau\.(cli|protocol\.messages)\.\w+")
DOTTED = re.compile(r"\bmoldau(?:\.\w+)+")
FROM = re.compile(r"\bfrom (moldau[\w.]*) import (\([^)]*\)|[^\n]*)")


def import_cycles(root: Path) -> Iterator[Violation]:
    """Modules that need each other are one module, or have a third between them."""
    paths = dict(package_modules(root))
    graph = {
        name: sorted(set(imported(parse(path), paths)) - {name}) for name, path in paths.items()
    }
    while cycle := first_cycle(graph):
        at = cycle.index(min(cycle))
        way = [*cycle[at:], *cycle[:at], cycle[at]]
        yield Violation(place(root, paths[way[0]]), "import_cycles", " -> ".join(way))
        graph[way[0]].remove(way[1])


def imported(tree: ast.AST, modules: Mapping[str, Path]) -> Iterator[str]:
    """Modules that run with this code, also in functions, but not for type checkers alone."""
    if isinstance(tree, ast.If) and ast.unparse(tree.test) == "TYPE_CHECKING":
        for branch in tree.orelse:
            yield from imported(branch, modules)
        return
    if isinstance(tree, ast.Import):
        yield from (alias.name for alias in tree.names if alias.name in modules)
    elif isinstance(tree, ast.ImportFrom) and tree.module:
        inner = [f"{tree.module}.{alias.name}" for alias in tree.names]
        yield from (name for name in inner if name in modules)
        if tree.module in modules and not all(name in modules for name in inner):
            yield tree.module
    for node in ast.iter_child_nodes(tree):
        yield from imported(node, modules)


def first_cycle(graph: Mapping[str, Sequence[str]]) -> list[str]:
    """Modules of which each imports the next, and the last the first; empty if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        backwards: list[str] = error.args[1]
        return backwards[:0:-1]
    return []


def unused_modules(root: Path) -> Iterator[Violation]:
    """What only its own test imports does nothing."""
    used = set(mentioned(root, USERS + PAGES))
    used_by_tests = set(mentioned(root, TESTS))
    for name, path in package_modules(root):
        is_module = path.stem not in ("__init__", "__main__")
        is_used = name in used or (name.startswith(FOR_TESTS) and name in used_by_tests)
        if is_module and not is_used and not FOUND_BY_FILE.fullmatch(name):
            yield Violation(place(root, path), "unused_modules", f"nothing imports {name}")


def mentioned(root: Path, patterns: Sequence[str]) -> Iterator[str]:
    """Modules that files import, or name in full: kernels and plugins are found by their names."""
    for path in (path for pattern in patterns for path in sorted(root.glob(pattern))):
        if not path.is_file() or path.suffix in (".so", ".pyc"):
            continue
        own = ".".join(path.relative_to(root).with_suffix("").parts).removeprefix("src.")
        text = path.read_text(encoding="utf-8")
        named = set(DOTTED.findall(text))
        for package, names in FROM.findall(text):
            named |= {f"{package}.{name}" for name in re.findall(r"\w+", names)}
        named |= {name.rpartition(".")[0] for name in named}  # `moldau.log.log.Log` names a class
        yield from named - {own}
