"""Finds the definition of a public name in the sources, wherever modules import it from."""

import ast
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SOURCES = Path(__file__).resolve().parents[2] / "src"

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
Constant = ast.Assign | ast.AnnAssign


class Found(NamedTuple):
    """What a name stands for, and the module that defines it."""

    module: str
    node: Definition | Constant


@functools.cache
def tree_of(module: str) -> ast.Module:
    """The syntax tree of a module or package."""
    path = SOURCES / module.replace(".", "/")
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(file.read_text(encoding="utf-8"))


def statements(module: str) -> Iterator[ast.stmt]:
    """What stands at the top level, for type checkers, too."""
    for node in tree_of(module).body:
        if isinstance(node, ast.If):
            yield from node.body
        yield node


def find(module: str, name: str) -> Found | None:
    """Where a name is defined; None if it is not in this package."""
    for node in statements(module):
        match node:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef() if node.name == name:
                return Found(module, node)
            case ast.ImportFrom(origin, aliases) if origin and origin.startswith("moldau"):
                for alias in aliases:
                    if (alias.asname or alias.name) == name:
                        return find(origin, alias.name)
            case ast.Assign([ast.Name(target)], ast.Attribute(ast.Name(home), attribute)) if (
                target == name and (origin := _imported(module, home))
            ):
                return find(origin, attribute)
            case ast.Assign([ast.Name(target)]) | ast.AnnAssign(ast.Name(target)) if target == name:
                return Found(module, node)
    return None


def _imported(module: str, name: str) -> str | None:
    """The module that another one knows by this name."""
    for node in statements(module):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return f"{node.module}.{alias.name}"
    return None


def text_below(found: Found) -> str | None:
    """The text that stands right below a constant, as a docstring would."""
    body = list(statements(found.module))
    following = body[body.index(found.node) + 1 :][:1]
    match following:
        case [ast.Expr(ast.Constant(str(text)))]:
            return " ".join(text.split())
    return None


def exported(package: str) -> list[str]:
    """The names in `__all__`; of a module without one, its public classes and functions."""
    for node in statements(package):
        match node:
            case ast.Assign([ast.Name("__all__")], value):
                return [str(name) for name in ast.literal_eval(value)]
    return [
        node.name
        for node in tree_of(package).body
        if isinstance(node, Definition) and not node.name.startswith("_")
    ]


def members(found: Found) -> Iterator[Definition]:
    """Methods and properties of a class: its own ones, then those of bases of this package."""
    seen: set[str] = set()
    for each in _ancestry(found):
        for part in each.body:
            if isinstance(part, Definition) and not part.name.startswith("_"):
                if part.name not in seen:
                    yield part
                seen.add(part.name)


def _ancestry(found: Found) -> Iterator[ast.ClassDef]:
    if not isinstance(found.node, ast.ClassDef):
        return
    yield found.node
    for base in found.node.bases:
        name = base.value if isinstance(base, ast.Subscript) else base
        if isinstance(name, ast.Name) and (parent := find(found.module, name.id)):
            yield from _ancestry(parent)
