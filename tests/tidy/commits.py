"""Subjects of commits, as CONTRIBUTING.md wants them: prefix, then the effect, in one line."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

from tidy.sources import Violation

SUBJECT_COLUMNS = 65
THIS = "tests/tidy/commits.py"
# What a commit may be about besides a folder: the project as a whole, and how it is built.
OTHER_PREFIXES = frozenset({"project", "build"})


class NoHistory(Exception):
    """This is no clone, or one without the commit that brought the rule."""


def subjects(root: Path) -> Iterator[Violation]:
    """Commits after the one that brought this rule; merges say what they merge."""
    introduced = _git(root, "log", "--diff-filter=A", "--format=%H", "--", THIS)
    if not introduced:
        raise NoHistory(f"no commit has brought {THIS} yet")
    since = f"{introduced[-1]}..HEAD"
    prefixes = known_prefixes(root)
    for line in _git(root, "log", "--no-merges", "--format=%h %s", since):
        commit, _, subject = line.partition(" ")
        for detail in faults_of(subject, prefixes):
            yield Violation(commit, "subjects", f"{detail}: {subject}")


def faults_of(subject: str, prefixes: frozenset[str]) -> Iterator[str]:
    if len(subject) > SUBJECT_COLUMNS:
        yield f"{len(subject)} characters instead of {SUBJECT_COLUMNS}"
    prefix, colon, effect = subject.partition(": ")
    if not colon or not effect:
        yield "no prefix"
    elif prefix not in prefixes:
        yield f"{prefix!r} is neither a part of the package nor a folder"


def known_prefixes(root: Path) -> frozenset[str]:
    """Parts of the package, folders of the project, kinds of tests."""
    folders = (root / "src" / "moldau", root, root / "tests")
    found = (path for folder in folders if folder.is_dir() for path in folder.iterdir())
    names = {path.stem for path in found if path.is_dir() or path.suffix == ".py"}
    return OTHER_PREFIXES | {name for name in names if name[0] not in "._"}


def _git(root: Path, *arguments: str) -> list[str]:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError) as error:
        raise NoHistory(str(error)) from error
    return done.stdout.splitlines()
