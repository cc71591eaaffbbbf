"""Which release of Kafka a broker is like, since brokers name the requests that they know only."""

from collections.abc import Mapping

_UNNAMED = "older than 0.10"
_MARKS: tuple[tuple[str, int, int], ...] = (
    ("0.10.0", 18, 0),
    ("0.10.1", 19, 0),
    ("0.10.2", 19, 1),
    ("0.11", 21, 0),
    ("1.0", 35, 0),
    ("1.1", 42, 0),
    ("2.0", 0, 6),
    ("2.1", 0, 7),
    ("2.2", 2, 5),
    ("2.3", 44, 0),
    ("2.4", 47, 0),
    ("2.5", 14, 5),
    ("2.6", 21, 2),
    ("2.7", 1, 12),
    ("2.8", 60, 0),
    ("3.0", 2, 7),
    ("3.1", 3, 12),
    ("3.2", 13, 5),
    ("3.3 or 3.4", 35, 4),
    ("3.5", 2, 8),
    ("3.6", 24, 4),
    ("3.7", 60, 1),
    ("3.8", 16, 5),
    ("3.9", 18, 4),
    ("4.0", 3, 13),
    ("4.1", 45, 1),
    ("4.2", 8, 10),
    ("4.3 or later", 35, 5),
)
"""A request and its version that came with each release, with ZooKeeper and without."""

_LEVELS = (
    *("3.0-IV1", "3.1-IV0", "3.2-IV0", "3.3-IV0", "3.3-IV1", "3.3-IV2", "3.3-IV3", "3.4-IV0"),
    *("3.5-IV0", "3.5-IV1", "3.5-IV2", "3.6-IV0", "3.6-IV1", "3.6-IV2"),
    *("3.7-IV0", "3.7-IV1", "3.7-IV2", "3.7-IV3", "3.7-IV4", "3.8-IV0", "3.9-IV0"),
    *("4.0-IV0", "4.0-IV1", "4.0-IV2", "4.0-IV3", "4.1-IV0", "4.1-IV1", "4.2-IV0", "4.2-IV1"),
    "4.3-IV0",
)
"""The names of the levels of metadata.version, from 1 on."""


def release_of(spoken: Mapping[int, range]) -> str:
    """The newest release whose requests a broker knows, as all those before.

    A broker that is not Apache's may know some of a later one as well.
    """
    known = [key in spoken and version < spoken[key].stop for _, key, version in _MARKS]
    whole = known.index(False) if False in known else len(known)
    release = _MARKS[whole - 1][0] if whole else _UNNAMED
    beyond = [_MARKS[each][0] for each in range(whole, len(known)) if known[each]]
    return f"{release}, and parts of {beyond[-1]}" if beyond else release


def metadata_version(level: int) -> str:
    """The name of a level of metadata.version, as tools of Kafka write it."""
    return _LEVELS[level - 1] if 0 < level <= len(_LEVELS) else f"level {level}"
