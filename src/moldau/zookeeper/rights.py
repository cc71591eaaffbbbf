"""Who may do what with a node: lists of rights as clients send them, and as they are stored."""

import base64
import hashlib
import hmac
import ipaddress
import json
from collections.abc import Iterable, Sequence
from enum import IntFlag
from typing import NamedTuple

from moldau.zookeeper import jute
from moldau.zookeeper.jute import JuteReader, Malformed
from moldau.zookeeper.messages import Err, Refused

WORLD, ANYONE = "world", "anyone"
_AUTH, DIGEST, IP = "auth", "digest", "ip"
_ENTRIES_MAX = 1000


class NodeRight(IntFlag):
    """What may be done; a list of rights has them as bits."""

    READ = 1
    WRITE = 2
    CREATE = 4
    DELETE = 8
    ADMIN = 16


ALL = NodeRight.READ | NodeRight.WRITE | NodeRight.CREATE | NodeRight.DELETE | NodeRight.ADMIN


class Id(NamedTuple):
    """Somebody: the address of a client, or who it has proved to be."""

    scheme: str
    name: str


class Entry(NamedTuple):
    """One line of a list."""

    rights: int
    scheme: str
    name: str


OPEN = [Entry(int(ALL), WORLD, ANYONE)]


def read_entries(reader: JuteReader) -> list[Entry]:
    """The list of a request."""
    count = reader.count()
    if count > _ENTRIES_MAX:
        raise Malformed(f"a list of {count} rights")
    return [Entry(reader.integer(), reader.text(), reader.text()) for _ in range(count)]


def entries_bytes(entries: Sequence[Entry]) -> bytes:
    """The list of an answer."""
    lines = (jute.integer(each.rights) + jute.text(each.scheme) + jute.text(each.name)
             for each in entries)  # fmt: skip
    return jute.integer(len(entries)) + b"".join(lines)


def stored_text(entries: Iterable[Entry], proved: Iterable[Id]) -> str:
    """A list as it is stored; Refused if it says nothing, or something that is not known."""
    wanted: dict[Entry, None] = {}
    for each in entries:
        wanted |= dict.fromkeys(_meant(each, proved))
    if not wanted:
        raise Refused(Err.INVALID_ACL)
    found = list(wanted)
    return "" if found == OPEN else json.dumps(found)


def _meant(entry: Entry, proved: Iterable[Id]) -> list[Entry]:
    scheme, name = entry.scheme, entry.name
    if scheme == _AUTH:
        found = [Entry(entry.rights, *each) for each in proved if each.scheme == DIGEST]
        if not found:
            raise Refused(Err.INVALID_ACL)
        return found
    is_known = (
        (scheme == WORLD and name == ANYONE)
        or (scheme == DIGEST and name.count(":") == 1)
        or (scheme == IP and _network(name) is not None)
    )
    if not is_known:
        raise Refused(Err.INVALID_ACL)
    return [entry]


def entries_of(stored: str) -> list[Entry]:
    """The list of a node."""
    return [Entry(*each) for each in json.loads(stored)] if stored else OPEN


def is_allowed(stored: str, right: int, ids: Iterable[Id]) -> bool:
    """Whether one of these may do one of that."""
    if not stored:
        return True
    return any(
        entry.rights & right and any(_is_meant(entry, each) for each in ids)
        for entry in entries_of(stored)
    )


def _is_meant(entry: Entry, somebody: Id) -> bool:
    if entry.scheme == WORLD:
        return True
    if entry.scheme != somebody.scheme:
        return False
    if entry.scheme == IP:
        network = _network(entry.name)
        return network is not None and ipaddress.ip_address(somebody.name) in network
    return hmac.compare_digest(entry.name, somebody.name)


def _network(name: str) -> "ipaddress.IPv4Network | ipaddress.IPv6Network | None":
    try:
        return ipaddress.ip_network(name, strict=False)
    except ValueError:
        return None


def digest_id(proof: bytes) -> Id:
    """Who a client is that sends `user:password`; Refused if it sends something else."""
    user, colon, _ = proof.partition(b":")
    if not colon:
        raise Refused(Err.AUTH_FAILED)
    digest = base64.b64encode(hashlib.sha1(proof, usedforsecurity=False).digest()).decode()
    return Id(DIGEST, f"{user.decode(errors='replace')}:{digest}")
