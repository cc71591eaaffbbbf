"""Kafka's feature versions, as `inter.broker.protocol.version` names them."""

from moldau.config.rules import Rule, Value

# Releases in order, each with the number of its last intermediate version. Releases before
# 0.10.0 have none.
_WITHOUT_STEPS = ("0.8.0", "0.8.1", "0.8.2", "0.9.0")
_LAST_STEP = {
    "0.10.0": 1,
    "0.10.1": 2,
    "0.10.2": 0,
    "0.11.0": 2,
    "1.0": 0,
    "1.1": 0,
    "2.0": 1,
    "2.1": 2,
    "2.2": 1,
    "2.3": 1,
    "2.4": 1,
    "2.5": 0,
    "2.6": 0,
    "2.7": 2,
    "2.8": 1,
    "3.0": 1,
    "3.1": 0,
    "3.2": 0,
    "3.3": 3,
    "3.4": 0,
    "3.5": 2,
    "3.6": 2,
    "3.7": 4,
    "3.8": 0,
    "3.9": 0,
    "4.0": 1,
}
# 4.0 was unfinished when 3.9 was released: only its steps have names there.
_UNFINISHED = "4.0"

VERSIONS = _WITHOUT_STEPS + tuple(
    f"{release}-IV{step}" for release, last in _LAST_STEP.items() for step in range(last + 1)
)
"""Every version's full name, oldest first."""

LATEST = "3.9-IV0"


def canonical(text: str) -> str | None:
    """The full name of the version that `text` means (2.4, 2.4.1, 2.4-IV1), or None."""
    if text in VERSIONS:
        return text
    numbers = text.split(".")
    release = ".".join(numbers[: 3 if numbers[0] == "0" else 2])
    if release in _WITHOUT_STEPS:
        return release
    if release in _LAST_STEP and release != _UNFINISHED:
        return f"{release}-IV{_LAST_STEP[release]}"
    return None


def is_at_least(version: str, other: str) -> bool:
    """Whether one version (in any accepted spelling) is the other or newer."""
    return _position(version) >= _position(other)


def _position(text: str) -> int:
    name = canonical(text)
    assert name is not None, text
    return VERSIONS.index(name)


def _accepts(value: Value) -> bool:
    return isinstance(value, str) and canonical(value) is not None


VERSION_RULE = Rule(
    f"a release such as 2.4 or 3.9, or one of {VERSIONS[0]} ... {VERSIONS[-1]}",
    _accepts,
    "[" + ", ".join(VERSIONS) + "]",
)
