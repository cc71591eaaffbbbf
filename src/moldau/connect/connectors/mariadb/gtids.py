"""Sets of global transaction ids: which transactions were seen.

MariaDB's have the form `domain-server-number`, and a set is the last of each domain. MySQL's have
the form `uuid:number`, and a set is ranges of numbers for each uuid.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from moldau.connect.errors import ConnectError

_MARIADB = re.compile(r"(\d+)-(\d+)-(\d+)")
_MYSQL = re.compile(r"[0-9a-fA-F-]{36}(:\d+(-\d+)?)+")
Ranges = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class MariaDbGtids:
    """The last transaction of each domain."""

    last: Mapping[int, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """As the server writes it."""
        return ",".join(self.last[domain] for domain in sorted(self.last))

    def added(self, gtid: str) -> "MariaDbGtids":
        """With one more."""
        return MariaDbGtids({**self.last, int(gtid.partition("-")[0]): gtid})


@dataclass(frozen=True, slots=True)
class MySqlGtids:
    """Ranges of transactions, both ends among them, by the server where they were made."""

    ranges: Mapping[str, Ranges] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """As the server writes it."""
        return ",".join(
            ":".join((uuid, *(f"{a}-{b}" if a != b else str(a) for a, b in self.ranges[uuid])))
            for uuid in sorted(self.ranges)
        )

    def added(self, gtid: str) -> "MySqlGtids":
        """With one more."""
        uuid, _, number = gtid.lower().partition(":")
        found = _joined((*self.ranges.get(uuid, ()), (int(number), int(number))))
        return MySqlGtids({**self.ranges, uuid: found})


Gtids = MariaDbGtids | MySqlGtids


def gtids_of(text: str) -> Gtids:
    """What a text says; an empty one is MariaDB's. ConnectError if it is no set."""
    parts = [each.strip() for each in text.split(",") if each.strip()]
    if all(_MARIADB.fullmatch(each) for each in parts):
        return MariaDbGtids({int(each.partition("-")[0]): each for each in parts})
    if not all(_MYSQL.fullmatch(each) for each in parts):
        raise ConnectError(f"{text!r} is no set of global transaction ids")
    ranges: dict[str, Ranges] = {}
    for each in parts:
        uuid, *listed = each.lower().split(":")
        pairs = tuple((int(a), int(b or a)) for a, _, b in (one.partition("-") for one in listed))
        ranges[uuid] = _joined((*ranges.get(uuid, ()), *pairs))
    return MySqlGtids(ranges)


def _joined(ranges: Ranges) -> Ranges:
    found: list[tuple[int, int]] = []
    for begin, end in sorted(ranges):
        if found and begin <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((begin, end))
    return tuple(found)
