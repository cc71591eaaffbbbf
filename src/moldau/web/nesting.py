"""How deep JSON is nested, found without a stack."""

import re

DEPTH_MAX = 200
"""How far it may be nested. Readers and checkers of it recurse, and a stack is finite."""

_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[{]|[\]}]', re.DOTALL)


def depth(text: str) -> int:
    """How far brackets are nested in a text; those in strings do not count."""
    deepest = now = 0
    for found in _BRACKETS.finditer(text):
        first = found.group()[0]
        if first in "[{":
            now += 1
            deepest = max(deepest, now)
        elif first in "]}":
            now -= 1
    return deepest
