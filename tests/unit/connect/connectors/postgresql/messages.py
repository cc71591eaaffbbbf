"""Messages of pgoutput as bytes, as the server writes them."""

import struct

EPOCH_2000_US = 946_684_800_000_000


def name(text: str) -> bytes:
    return text.encode() + b"\0"


def cells(*values: str | bytes | None) -> bytes:
    """Texts, nulls, and for b"u" what is unchanged."""
    found = struct.pack(">h", len(values))
    for each in values:
        if each is None:
            found += b"n"
        elif isinstance(each, bytes):
            found += each
        else:
            found += b"t" + struct.pack(">I", len(each.encode())) + each.encode()
    return found


def begin(final_lsn: int, xid: int, time_us: int = EPOCH_2000_US) -> bytes:
    return b"B" + struct.pack(">qqi", final_lsn, time_us - EPOCH_2000_US, xid)


def commit(commit_lsn: int, end_lsn: int, time_us: int = EPOCH_2000_US) -> bytes:
    return b"C" + struct.pack(">bqqq", 0, commit_lsn, end_lsn, time_us - EPOCH_2000_US)


def relation(oid: int, schema: str, table: str, *columns: tuple[str, int, bool]) -> bytes:
    found = b"R" + struct.pack(">I", oid) + name(schema) + name(table) + b"d"
    found += struct.pack(">h", len(columns))
    for column, type_oid, is_key in columns:
        found += bytes([is_key]) + name(column) + struct.pack(">Ii", type_oid, -1)
    return found


def insert(oid: int, *values: str | bytes | None) -> bytes:
    return b"I" + struct.pack(">I", oid) + b"N" + cells(*values)


def update(oid: int, new: bytes, old: bytes = b"") -> bytes:
    return b"U" + struct.pack(">I", oid) + old + b"N" + new


def delete(oid: int, kind: bytes, old: bytes) -> bytes:
    return b"D" + struct.pack(">I", oid) + kind + old


def truncate(*oids: int) -> bytes:
    return b"T" + struct.pack(">Ib", len(oids), 0) + b"".join(struct.pack(">I", o) for o in oids)


def logical(lsn: int, prefix: str, content: bytes, *, is_transactional: bool = True) -> bytes:
    head = b"M" + struct.pack(">bq", is_transactional, lsn) + name(prefix)
    return head + struct.pack(">I", len(content)) + content
