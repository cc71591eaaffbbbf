"""Creates and sets per second of the tree: Moldau's own and ZooKeeper, in turns.

bin/bench tree [rounds] [requests]

Both have one server and sync every write to disk before they answer. A session asks for one thing
after the other, for the time that one takes, then keeps a hundred requests under way, for how
many there can be in a second.
"""

import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median, quantiles

from bench.measure import print_table

from conformance.apache.broker import zookeeper
from conformance.our_tree import our_tree
from moldau.zookeeper import jute
from moldau.zookeeper.messages import NOTIFICATION_XID, Op
from moldau.zookeeper.rights import OPEN, entries_bytes
from moldau.zookeeper.wire_session import WireSession

ROUNDS = 5
REQUESTS = 2_000
_UNDER_WAY = 100
_SEQUENTIAL = 2
_DATA = b"x" * 100
_CREATE = jute.text("/n") + jute.buffer(_DATA) + entries_bytes(OPEN) + jute.integer(_SEQUENTIAL)
_SET = jute.text("/set") + jute.buffer(_DATA) + jute.integer(-1)
_FIRST = jute.text("/set") + jute.buffer(b"") + entries_bytes(OPEN) + jute.integer(0)


def single(session: WireSession, op: Op, body: bytes, count: int) -> list[float]:
    """Milliseconds of each request, one after the other."""
    found = []
    for _ in range(count):
        start = time.perf_counter()
        (answer,) = session.ask(op, body)
        assert not answer.error, answer
        found.append((time.perf_counter() - start) * 1_000)
    return found


def pipelined(session: WireSession, op: Op, body: bytes, count: int) -> float:
    """Requests per second, with many under way."""
    start = time.perf_counter()
    sent = received = 0
    while received < count:
        while sent < count and sent - received < _UNDER_WAY:
            session.send(op, body, xid=1_000_000 + sent)
            sent += 1
        answer = session.receive()
        if answer.xid != NOTIFICATION_XID:
            assert not answer.error, answer
            received += 1
    return count / (time.perf_counter() - start)


def main(rounds: int, requests: int) -> None:
    """Compare, and print a table."""
    times: dict[tuple[str, str], list[float]] = {}
    rates: dict[tuple[str, str], list[float]] = {}
    with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
        theirs = stack.enter_context(zookeeper(Path(directory) / "zookeeper"))
        ours = stack.enter_context(our_tree(Path(directory) / "tree"))
        ports = {"Moldau": ours.port, "ZooKeeper": theirs}
        for port in ports.values():
            with WireSession("127.0.0.1", port) as session:
                session.ask(Op.CREATE, _FIRST)
        for _ in range(rounds):
            for name, port in ports.items():
                with WireSession("127.0.0.1", port) as session:
                    for what, op, body in (
                        ("create", Op.CREATE, _CREATE),
                        ("set", Op.SET_DATA, _SET),
                    ):
                        key = what, name
                        times.setdefault(key, []).extend(single(session, op, body, requests // 10))
                        rates.setdefault(key, []).append(pipelined(session, op, body, requests))
                    session.close()
    rows = [
        (
            f"{what}, {name}",
            f"{median(rates[what, name]):,.0f}",
            f"{median(times[what, name]):.2f}",
            f"{quantiles(times[what, name], n=100)[-1]:.2f}",
        )
        for what, name in sorted(rates)
    ]
    title = (
        f"One session, {_UNDER_WAY} requests under way, medians of {rounds} rounds; then one by one"
    )
    print_table(title, ("", "requests/s", "ms, median", "ms, p99"), rows)


if __name__ == "__main__":
    given = [int(each) for each in sys.argv[1:]]
    main(*(given + [ROUNDS, REQUESTS][len(given) :]))
