"""Fabricated projects that break a rule on purpose."""

from collections.abc import Callable, Iterator
from pathlib import Path

from tidy.sources import Violation


def plant(root: Path, files: dict[str, str]) -> Path:
    """Write the files, each under its path from the project's root."""
    (root / "src" / "moldau").mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def places(rule: Callable[[Path], Iterator[Violation]], root: Path) -> list[str]:
    """Where the rule finds itself broken."""
    return sorted(found.place for found in rule(root))
