"""Secrets are compared in constant time, and not shown where an object is."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tidy.sources import Violation, package_modules, parse, place

SECRET = re.compile(
    r"(^|[._])(password|passwd|secret|hmac|proof|digest|signature|stored_key|server_key|salted)s?$"
)
# Names that contain such a word and are no secrets themselves.
HARMLESS = re.compile(r"(^|[._])(hash_password)$")
TEXTS = frozenset({"str", "bytes", "str | None", "bytes | None"})
# Settings as they were given, with the passwords among them.
GIVEN = frozenset(
    ("admin", "broker", "client", "cluster", "config", "options", "properties", "settings", "sink",
     "static", "texts")
)  # fmt: skip
MAPPINGS = frozenset({"Mapping[str, str]", "dict[str, str]"})


def constant_time(root: Path) -> Iterator[Violation]:
    """`==` says by its time how far a guess was right (CVE-2021-38153): `hmac.compare_digest`."""
    for _, path in package_modules(root):
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.Compare) and _is_equality(node) and _is_of_secret(node):
                detail = f"line {node.lineno} compares a secret: use hmac.compare_digest"
                yield Violation(place(root, path), "constant_time", detail)


def hidden_secrets(root: Path) -> Iterator[Violation]:
    """A dataclass does not show a secret: tracebacks and logs would have it."""
    for _, path in package_modules(root):
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.ClassDef) and _shows_its_fields(node):
                for name in _shown_secrets(node):
                    detail = f"{node.name}.{name} needs field(repr=False), or the type Password"
                    yield Violation(place(root, path), "hidden_secrets", detail)


def _is_equality(node: ast.Compare) -> bool:
    return any(isinstance(operator, ast.Eq | ast.NotEq) for operator in node.ops)


def _is_of_secret(node: ast.Compare) -> bool:
    sides = [node.left, *node.comparators]
    if any(isinstance(side, ast.Constant) for side in sides):
        return False  # whether there is one at all
    return any(is_secret(ast.unparse(side)) for side in sides)


def is_secret(name: str) -> bool:
    return SECRET.search(name) is not None and HARMLESS.search(name) is None


def _shows_its_fields(node: ast.ClassDef) -> bool:
    return any("dataclass" in ast.unparse(each) for each in node.decorator_list)


def _shown_secrets(node: ast.ClassDef) -> Iterator[str]:
    for field in node.body:
        if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
            continue
        name, kind = field.target.id, ast.unparse(field.annotation)
        if not (is_secret(name) and kind in TEXTS) and not (name in GIVEN and kind in MAPPINGS):
            continue
        if field.value is None or "repr=False" not in ast.unparse(field.value):
            yield name
