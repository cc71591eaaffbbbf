"""Requests as clients send them, for tests of what reads them."""

from moldau.zookeeper import jute

OPEN_TO_ALL = jute.integer(1) + jute.integer(31) + jute.text("world") + jute.text("anyone")
END = jute.integer(-1) + jute.flag(True) + jute.integer(-1)


def create(path: str, data: bytes | None = b"", flags: int = 0, acls: bytes = OPEN_TO_ALL) -> bytes:
    return jute.text(path) + jute.buffer(data) + acls + jute.integer(flags)


def versioned(path: str, version: int = -1) -> bytes:
    return jute.text(path) + jute.integer(version)


def set_data(path: str, data: bytes | None, version: int = -1) -> bytes:
    return jute.text(path) + jute.buffer(data) + jute.integer(version)


def watched(path: str, *, is_watched: bool = True) -> bytes:
    return jute.text(path) + jute.flag(is_watched)


def part(op: int, body: bytes) -> bytes:
    return jute.integer(op) + jute.flag(False) + jute.integer(-1) + body


def acls(*entries: tuple[int, str, str]) -> bytes:
    lines = [jute.integer(n) + jute.text(scheme) + jute.text(name) for n, scheme, name in entries]
    return jute.integer(len(entries)) + b"".join(lines)
