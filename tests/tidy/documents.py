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
WORDS_MAX = 36
# Code, comments, pictures and headings are not read as sentences.
NO_PROSE = re.compile(r"^ *```.*?^ *```$|<!--.*?-->|!\[[^\]]*\]|^#.*?$", re.MULTILINE | re.DOTALL)
TARGET = re.compile(r"\]\([^)]*\)")
PARAGRAPH = re.compile(r"\n\s*(?:\n|(?:[-*]|\d+\.) |(?=\|))")
STOP = re.compile(r"(?<=[.!?:])\s+(?=[A-Z`\[*\d])|[;:]\s")


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


def short_sentences(root: Path) -> Iterator[Violation]:
    """No sentence of a document needs a second reading."""
    pages = [root / name for name in DOCUMENTS]
    for path in [*pages, *sorted((root / "docs").rglob("*.md"))]:
        if not path.is_file():
            continue
        for sentence in sentences(path.read_text(encoding="utf-8")):
            words = sentence.split()
            if len(words) > WORDS_MAX:
                detail = f"{len(words)} words after {' '.join(words[:5])!r}"
                yield Violation(path.relative_to(root).as_posix(), "short_sentences", detail)


def sentences(text: str) -> Iterator[str]:
    """What ends with a full stop, a colon, a semicolon, a cell of a table or a paragraph."""
    for paragraph in PARAGRAPH.split(TARGET.sub("]", NO_PROSE.sub("\n\n", text))):
        rows = paragraph.strip().startswith("|")
        for part in paragraph.split("|") if rows else [paragraph]:
            yield from STOP.split(part)
