"""Words that have no place in the repository: unfinished work, one machine's paths and hosts."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tidy.sources import Violation, place

UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX)\b")
MACHINE = re.compile(
    r"(?<![\w.*])/(?:root|work|home/\w+)/"
    r"|\b(?:pypi\.org|pythonhosted\.org|repo1?\.maven\.(?:org|apache\.org)"
    r"|registry\.npmjs\.org|proxy\.golang\.org|static\.crates\.io)\b"
)


def unfinished_work(root: Path) -> Iterator[Violation]:
    """What is not done is an issue, not a comment."""
    yield from matches(root, UNFINISHED, "unfinished_work")


def machine_names(root: Path) -> Iterator[Violation]:
    """The repository works everywhere, behind any mirror."""
    yield from matches(root, MACHINE, "machine_names")


def matches(root: Path, pattern: re.Pattern[str], rule: str) -> Iterator[Violation]:
    for path in text_files(root):
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if found := pattern.search(line):
                detail = f"{found.group()!r} in line {number}"
                yield Violation(place(root, path), rule, detail)


def text_files(root: Path) -> Iterator[Path]:
    """What is or could be committed: git knows best, else everything."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    is_repository = listing.returncode == 0 and (root / ".git").exists()
    names = listing.stdout.split("\0") if is_repository else map(str, root.rglob("*"))
    for name in sorted(filter(None, names)):
        if (root / name).is_file():
            yield root / name
