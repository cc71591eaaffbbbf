"""Instructions that a Produce costs the broker: here and in another clone, or with access rules.

    bin/bench instructions OTHER-CLONE [connections]
    bin/bench instructions rules

Valgrind counts instructions of the broker's process, not seconds: the count repeats whatever else
the machine does. What a start costs is taken out by two loads of different length. The system's
share, about half of a request's time, is not counted.
"""

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.broker import SINGLE
from bench.brokers import until_metadata
from bench.librdkafka import run_load
from bench.measure import print_table

from conformance.apache.broker import free_port
from moldau import Admin
from moldau.security.acls import Acl, Operation, ResourceType

_START_S, _STOP_S = 300.0, 120
_AUTHORIZER = "authorizer.class.name=kafka.security.authorizer.AclAuthorizer"
_RULES_ON = ("--override", _AUTHORIZER, "--override", "super.users=User:admin")


@dataclass(frozen=True, slots=True)
class Load:
    """What is sent; `short` and `long` are numbers of records."""

    name: str
    short: int
    long: int
    size: int
    settings: tuple[str, ...]
    requests: float
    """How many there are for each record, about."""


SMALL = Load("one record of 100 B", 2_000, 8_000, 100, SINGLE, 1)
# 16 records of 1 KiB are a batch, as Java's clients send them by default.
BATCHES = Load("a batch of 16 KiB", 16_000, 64_000, 1024, ("batch.num.messages=16",), 1 / 16)


@dataclass(frozen=True, slots=True)
class Subject:
    """A broker whose instructions are counted."""

    name: str
    clone: Path
    with_rules: bool = False

    def collected(self, load: Load, records: int, connections: int) -> int:
        """Instructions from the start of a broker to its end, with so many records between."""
        with tempfile.TemporaryDirectory() as name:
            directory = Path(name)
            if self.with_rules:
                with self._running(directory, directory / "first", (), super_user=True) as port:
                    asyncio.run(_allow_anonymous(port))
            profile = f"--callgrind-out-file={directory / 'profile'}"
            counting, output = ("valgrind", "--tool=callgrind", profile), directory / "output"
            with self._running(directory, output, counting) as port:
                run_load(
                    *("produce", "t", str(load.size), str(records), str(connections), "1"),
                    *(f"bootstrap.servers=127.0.0.1:{port}", "acks=1"),
                    *load.settings,
                )
            return int(output.read_text().partition("Collected :")[2].split()[0])

    @contextmanager
    def _running(
        self, directory: Path, output: Path, before: Sequence[str], *, super_user: bool = False
    ) -> Iterator[int]:
        port = free_port()
        command = [
            *(*before, str(self.clone / ".venv/bin/python"), "-m", "moldau", "serve"),
            *("--data", str(directory / "data"), "--port", str(port), "--log-level", "warning"),
            *(_RULES_ON if self.with_rules else ()),
            *(("--override", "super.users=User:ANONYMOUS") if super_user else ()),
        ]
        environment = {"PATH": "/usr/bin"}
        with output.open("w") as file:
            process = subprocess.Popen(command, stderr=file, cwd=self.clone, env=environment)
            try:
                until_metadata(port, _START_S)
                yield port
            finally:
                process.terminate()
                process.wait(_STOP_S)

    def per_request(self, load: Load, connections: int) -> float:
        """Instructions for one request."""
        short, long = (
            self.collected(load, records, connections) for records in (load.short, load.long)
        )
        return (long - short) / (load.long - load.short) / load.requests


async def _allow_anonymous(port: int) -> None:
    async with Admin(bootstrap_servers=f"127.0.0.1:{port}") as admin:
        rule = Acl(
            resource_type=ResourceType.TOPIC,
            resource_name="*",
            principal="User:ANONYMOUS",
            operation=Operation.ALL,
        )
        (await admin.create_acls([rule])).check()


def compare(before: Subject, after: Subject, loads: Sequence[Load], connections: int) -> None:
    """Measure both and print the table."""
    rows = []
    for subject in (before, after):
        subject.collected(SMALL, 10, 1)  # a first start also compiles modules
    for load in loads:
        counts = [subject.per_request(load, connections) for subject in (before, after)]
        first, second = counts
        rows.append((load.name, f"{first:,.0f}", f"{second:,.0f}", f"{second / first:.3f}"))
    title = f"Instructions for a Produce outside the system, {connections} connections"
    print_table(title, ("", before.name, after.name, "ratio"), rows)


if __name__ == "__main__":
    connections = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    here = Path.cwd()
    if sys.argv[1] == "rules":
        without, rules = Subject("without", here), Subject("access rules", here, with_rules=True)
        compare(without, rules, (SMALL, BATCHES), connections)
    else:
        other = Path(sys.argv[1]).resolve()
        compare(
            Subject(other.name, other), Subject("this clone", here), (SMALL, BATCHES), connections
        )
