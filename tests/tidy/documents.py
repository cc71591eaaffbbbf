"""The documents say what is there."""

import re
from collections.abc import Iterator
from pathlib import Path

from tidy.import_map import MAY_IMPORT
from tidy.sources import Violation

DOCUMENTS = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")
ROW = re.compile(r"^\| `(\w+)(?:/|\.py)` \| .+ \| (here|begun|planned) \|$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)#:]+)\)")
SCRIPT = re.compile(r"\bbin/[a-z][\w-]*(?:\.sh)?\b")


def known_files(root: Path) -> Iterator[Violation]:
    """Links and scripts that a document names exist."""
    for name in DOCUMENTS:
        text = (root / name).read_text(encoding="utf-8")
        for target in sorted({*LINK.findall(text), *SCRIPT.findall(text)}):
            if not (root / target).exists():
                yield Violation(name, "known_files", f"there is no {target}")


def table_of_parts(root: Path) -> Iterator[Violation]:
    """ARCHITECTURE.md has a row for every part, and says rightly whether it is there."""
    name = "ARCHITECTURE.md"
    states = dict(ROW.findall((root / name).read_text(encoding="utf-8")))
    for part in sorted(MAY_IMPORT.keys() ^ states.keys()):
        detail = f"{part} is in one of the table and the import map"
        yield Violation(name, "table_of_parts", detail)
    for part, state in states.items():
        package = root / "src" / "moldau" / part
        is_there = package.with_suffix(".py").is_file() or any(package.glob("*.py"))
        if is_there == (state == "planned"):
            detail = f"{part} is {state!r}, but is{'' if is_there else ' not'} there"
            yield Violation(name, "table_of_parts", detail)
