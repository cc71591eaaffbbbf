"""Words that have no place in the repository, or not where operators read them."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TypeGuard

from tidy.sources import Violation, package_modules, parse, place

UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX)\b")
MACHINE = re.compile(
    r"(?<![\w.*])/(?:root|work|home/\w+)/"
    r"|\b(?:pypi\.org|pythonhosted\.org|repo1?\.maven\.(?:org|apache\.org)"
    r"|registry\.npmjs\.org|proxy\.golang\.org|static\.crates\.io)\b"
)

# Kafka's and Python's own words are sent, received, request, sender, port, failed to.
DIALECT = re.compile(
    r"\b(?:told|tells?|whoever|nobody|letters?|couriers?|doors?|hears?|heard|understood)\b",
    re.IGNORECASE,
)
# The same in names, docstrings and comments.
DIALECT_IN_CODE = re.compile(
    r"(?<![a-z])(?:told|tells?|telling|whoever|couriers?|doors?|hears?|heard|stretch(?:es)?)"
    r"(?![a-z])",
    re.IGNORECASE,
)
LOG_CALLS = {"debug", "info", "warning", "error", "exception", "critical"}
# What shows something to the user of a command.
SAYING = {
    "Option",
    "Options",
    "ArgumentParser",
    "add_argument",
    "add_parser",
    "print",
    "warn",
    "Finding",
}
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
# Kafka has dead letters, and names of topics have letters.
LETTERS = re.compile(r"\bdead[ -]letters?\b|\bletters, digits\b", re.IGNORECASE)


def unfinished_work(root: Path) -> Iterator[Violation]:
    """What is not done is an issue, not a comment."""
    yield from matches(root, UNFINISHED, "unfinished_work")


def machine_names(root: Path) -> Iterator[Violation]:
    """The repository works everywhere, behind any mirror."""
    yield from matches(root, MACHINE, "machine_names")


def plain_messages(root: Path) -> Iterator[Violation]:
    """What users read, log lines, exceptions and --help, is in words that they can search for."""
    for _, path in package_modules(root):
        for node in ast.walk(parse(path)):
            if not isinstance(node, ast.Raise) and not is_log_call(node) and not says(node):
                continue
            for text in texts(node):
                if found := DIALECT.search(LETTERS.sub("", text)):
                    detail = f"{found.group()!r} in line {node.lineno}"
                    yield Violation(place(root, path), "plain_messages", detail)


def plain_code(root: Path) -> Iterator[Violation]:
    """Names and comments say sent, notify, request and range, as Kafka's and Python's own do."""
    for _, path in package_modules(root):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if found := DIALECT_IN_CODE.search(line):
                yield Violation(place(root, path), "plain_code", f"{found[0]!r} in line {number}")


def plain_documents(root: Path) -> Iterator[Violation]:
    """So are the documents, but for what is code."""
    for path in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
        if not path.is_file():
            continue
        text = LETTERS.sub("", CODE.sub("", path.read_text(encoding="utf-8")))
        for found in DIALECT.finditer(text):
            yield Violation(place(root, path), "plain_documents", f"{found.group()!r}")


def says(node: ast.AST) -> TypeGuard[ast.Call]:
    """Whether this call shows something to the user of a command."""
    match node:
        case ast.Call(ast.Name(name)) | ast.Call(ast.Attribute(_, name)):
            return name in SAYING
    return False


def is_log_call(node: ast.AST) -> TypeGuard[ast.Call]:
    match node:
        case ast.Call(ast.Attribute(ast.Name("_log"), level)):
            return level in LOG_CALLS
    return False


def texts(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value


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
