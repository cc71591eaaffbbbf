"""Whether the time of a failed login tells which users there are.

bin/bench login_times [logins]

So many logins that fail for a user with a wrong password, and as many for one that is not there,
by turns, over sockets, without the delay for failures. For each mechanism the table has the
median times, and how often a stranger's answer takes longer than a user's (Mann and Whitney's U by
the number of pairs): 50 % if nothing can be learnt from one. z says how sure it is that there is
any difference at all: beyond 3 or so there is one.
"""

import base64
import statistics
import sys
import tempfile
import time
from pathlib import Path

from bench.measure import print_table

from conformance.apache.broker import free_port
from conformance.our_broker import OurBroker
from moldau.errors import ErrorCode
from moldau.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from moldau.protocol.messages.sasl_handshake import SaslHandshakeRequest
from moldau.testing.wire import WireClient
from unit.broker.login.secured import ADMIN, ADMIN_PASSWORD, settings
from unit.cli.command import run

LOGINS = 10_000
PROOF_BYTES = {"SCRAM-SHA-256": 32, "SCRAM-SHA-512": 64}
MECHANISMS = ("PLAIN", *PROOF_BYTES)
STRANGER = "admim"  # as long as the user's


def answered_us(wire: WireClient, token: bytes) -> tuple[float, bytes]:
    began_ns = time.perf_counter_ns()
    answer = wire.ask(SaslAuthenticateRequest(auth_bytes=token))
    return (time.perf_counter_ns() - began_ns) / 1000, bytes(answer.auth_bytes)


def failing_us(servers: str, mechanism: str, user: str) -> float:
    """What all answers of a login took together."""
    with WireClient(servers) as wire:
        assert wire.ask(SaslHandshakeRequest(mechanism=mechanism)).error_code == ErrorCode.NONE
        if mechanism == "PLAIN":
            return answered_us(wire, f"\0{user}\0wrong".encode())[0]
        first_us, challenge = answered_us(wire, f"n,,n={user},r=abc".encode())
        proof = base64.b64encode(bytes(PROOF_BYTES[mechanism]))
        final = b"c=biws," + challenge.split(b",")[0] + b",p=" + proof
        return first_us + answered_us(wire, final)[0]


def above(users: list[float], strangers: list[float]) -> tuple[float, float]:
    """How often one of the second is larger than one of the first, and z."""
    ranked = sorted([(each, 0) for each in users] + [(each, 1) for each in strangers])
    ranks = sum(rank for rank, (_, kind) in enumerate(ranked, 1) if kind)
    n, m = len(users), len(strangers)
    u = ranks - m * (m + 1) / 2
    deviation = (n * m * (n + m + 1) / 12) ** 0.5
    return u / (n * m), (u - n * m / 2) / deviation


def main(logins: int = LOGINS) -> None:
    rows = []
    with tempfile.TemporaryDirectory() as name:
        port = free_port()
        own = {
            **settings(),
            "listeners": f"SASL_PLAINTEXT://127.0.0.1:{port}",
            "connection.failed.authentication.delay.ms": "0",
        }
        broker = OurBroker(Path(name) / "broker", own, port)
        for user in (ADMIN, "somebody-else"):
            arguments = ("--data", str(broker.log_directory))
            made = run("users", "add", user, *arguments, stdin=f"{ADMIN_PASSWORD}\n")
            assert made.code == 0, made.stderr
        broker.start()
        try:
            for mechanism in MECHANISMS:
                found: dict[str, list[float]] = {ADMIN: [], STRANGER: []}
                for number in range(logins):
                    for user in sorted(found, reverse=bool(number % 2)):
                        found[user].append(failing_us(broker.bootstrap, mechanism, user))
                share, z = above(found[ADMIN], found[STRANGER])
                medians = [f"{statistics.median(found[user]):.1f}" for user in (ADMIN, STRANGER)]
                rows.append((mechanism, *medians, f"{share:.1%}", f"{z:+.1f}"))
        finally:
            broker.kill()
    columns = ("mechanism", "user, us", "stranger, us", "stranger later", "z")
    print_table(f"{logins} failed logins of each", columns, rows)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
