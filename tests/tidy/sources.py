"""The project's files as the rules see them."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

CODE_FOLDERS = ("src", "bin", "tests", "bench", "examples")
NOT_OURS = {".venv", ".cache", "__pycache__", "build", "node_modules", "target"}


@dataclass(frozen=True, order=True, slots=True)
class Violation:
    """One broken rule; `place` is what an exception in exceptions.py names."""

    place: str  # a path from the project's root, or `path:qualified.name`
    rule: str
    detail: str

    def __str__(self) -> str:
        return f"{self.place}: {self.rule}: {self.detail}"


def code_files(root: Path, *suffixes: str) -> Iterator[Path]:
    """Every file of ours with one of the suffixes, in a stable order."""
    for folder in CODE_FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            is_ours = NOT_OURS.isdisjoint(path.relative_to(root).parts)
            if is_ours and path.suffix in suffixes and path.is_file():
                yield path


def package_modules(root: Path) -> Iterator[tuple[str, Path]]:
    """Every module of the package, by its dotted name."""
    source = root / "src"
    for path in sorted((source / "moldau").rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        yield name, path


def place(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix()


def parse(path: Path) -> ast.Module:
    return _parse(path, path.stat().st_mtime_ns)


@cache
def _parse(path: Path, _modified_ns: int) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def is_within(module: str, packages: "tuple[str, ...] | frozenset[str]") -> bool:
    """Whether the module is one of these, or inside one of them."""
    return any(module == package or module.startswith(f"{package}.") for package in packages)
