"""Dump, restore or copy the nodes of a cluster: of ZooKeeper, or of Moldau's own tree.

A TREE is HOST:PORT[/CHROOT] of a server, or the directory or file of a store that is not in use.
Persistent nodes are copied with their access rules. Ephemeral nodes and notices of changes are not.
"""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from moldau.cli.terminal.failure import CommandFailed
from moldau.coordination.journal import FILE_NAME, StoreError
from moldau.runtime.clock import SystemClock
from moldau.zookeeper.server import TREE_FILE
from moldau.zookeeper.snapshot import (
    SnapshotError,
    SnapshotNode,
    TreeAddress,
    prove,
    read_lines,
    read_server,
    read_store,
    snapshot_lines,
    write_server,
    write_store,
)
from moldau.zookeeper.wire_session import WireSession

_TREE = "HOST:PORT[/CHROOT] of a server, or the directory or file of a store"

_PORT = 2181
_PRIVATE = 0o600


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        return _run(options)
    except (SnapshotError, StoreError) as error:
        raise CommandFailed(str(error)) from error


def _run(options: argparse.Namespace) -> int:
    if options.action == "dump":
        nodes = _read(options.tree, options.auth)
        _write_file(options.file, nodes)
        print(f"{len(nodes)} nodes are in {options.file}", file=sys.stderr)
        return 0
    if options.action == "restore":
        text = sys.stdin.read() if options.file == "-" else Path(options.file).read_text("utf-8")
        nodes = read_lines(text.splitlines())
    else:
        nodes = _read(options.source, options.auth)
    count = _write(options.tree, options.auth, nodes)
    print(f"{count} nodes are in {options.tree}", file=sys.stderr)
    return 0


def _read(tree: str, proof: str | None) -> list[SnapshotNode]:
    store = store_file(tree)
    if store is not None:
        if not store.exists():
            raise CommandFailed(f"there is no store {store}")
        return read_store(str(store))
    with _session(tree, proof) as (session, base):
        return read_server(session, base)


def _write(tree: str, proof: str | None, nodes: Sequence[SnapshotNode]) -> int:
    store = store_file(tree)
    if store is not None:
        store.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return write_store(str(store), nodes, now_ms=SystemClock().now_ms())
    with _session(tree, proof) as (session, base):
        return write_server(session, base, nodes)


def store_file(tree: str) -> Path | None:
    """The file of a store; None for the address of a server."""
    path = Path(tree)
    if path.is_dir():
        # A broker that is alone has its store under another name than a cluster's tree.
        alone = path / FILE_NAME
        return alone if alone.exists() else path / TREE_FILE
    if path.exists() or tree.startswith(("/", ".")):
        return path if path.suffix == ".sqlite" else path / TREE_FILE
    return None


def address(tree: str) -> TreeAddress:
    """The server that HOST:PORT/CHROOT names; the first, if there are several."""
    servers, slash, base = tree.partition("/")
    host, colon, port = servers.split(",")[0].rpartition(":")
    if not colon or port.endswith("]"):
        host, port = servers.split(",")[0], str(_PORT)
    if not port.isdecimal():
        raise CommandFailed(f"{tree}: neither a store nor HOST:PORT")
    return TreeAddress(host.strip("[]"), int(port), f"{slash}{base}".rstrip("/"))


@contextmanager
def _session(tree: str, proof: str | None) -> Iterator[tuple[WireSession, str]]:
    host, port, base = address(tree)
    with WireSession(host, port) as session:
        if proof is not None:
            prove(session, proof)
        yield session, base
        session.close()


def _write_file(name: str, nodes: Sequence[SnapshotNode]) -> None:
    if name == "-":
        for line in snapshot_lines(nodes):
            print(line)
        return
    # There may be passwords in it.
    descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, _PRIVATE)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in snapshot_lines(nodes))
        file.flush()
        os.fsync(file.fileno())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="moldau tree",
        allow_abbrev=False,
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--auth", metavar="USER:PASSWORD", help="who asks, for ZooKeeper's rules")
    actions = parser.add_subparsers(dest="action", required=True)
    about = "Write the nodes of a tree to a file, one in each line."
    dump = actions.add_parser("dump", help="write the nodes of a tree to a file", description=about)
    dump.add_argument("tree", metavar="TREE", help=_TREE)
    dump.add_argument("file", metavar="FILE", help="- for the standard output")
    about = "Write a file of `dump` into a tree without nodes."
    restore = actions.add_parser(
        "restore", help="write such a file into a tree without nodes", description=about
    )
    restore.add_argument("file", metavar="FILE", help="- for the standard input")
    restore.add_argument("tree", metavar="TREE", help=_TREE)
    about = "Copy the nodes of a tree into a tree without nodes."
    copy = actions.add_parser("copy", help="do both at once", description=about)
    copy.add_argument("source", metavar="FROM", help=_TREE)
    copy.add_argument("tree", metavar="TO", help=_TREE)
    return parser
