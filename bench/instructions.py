"""Instructions that a small Produce costs the broker, here and in another clone.

bin/bench instructions OTHER-CLONE [connections]

Valgrind counts instructions of the broker's process, not seconds: the count repeats whatever else
the machine does. What a start costs is taken out by two loads of different length. The system's
share, about half of a request's time, is not counted.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from bench.broker import SINGLE
from bench.brokers import until_metadata
from bench.librdkafka import run_load
from bench.measure import print_table

from conformance.apache.broker import free_port

SHORT, LONG = 2_000, 8_000
_START_S, _STOP_S = 300.0, 120


def collected(clone: Path, records: int, connections: int) -> int:
    """Instructions from the start of a broker to its end, with so many records between."""
    with tempfile.TemporaryDirectory() as name:
        directory, port = Path(name), free_port()
        command = [
            *("valgrind", "--tool=callgrind", f"--callgrind-out-file={directory / 'profile'}"),
            *(str(clone / ".venv/bin/python"), "-m", "moldau", "serve"),
            *("--data", str(directory / "data"), "--port", str(port), "--log-level", "warning"),
        ]
        with (directory / "output").open("w") as output:
            process = subprocess.Popen(command, stderr=output, cwd=clone, env={"PATH": "/usr/bin"})
            try:
                until_metadata(port, _START_S)
                run_load(
                    *("produce", "t", "100", str(records), str(connections), "1"),
                    *(f"bootstrap.servers=127.0.0.1:{port}", "acks=1"),
                    *SINGLE,
                )
            finally:
                process.terminate()
                process.wait(_STOP_S)
        return int((directory / "output").read_text().partition("Collected :")[2].split()[0])


def per_request(clone: Path, connections: int) -> float:
    """Instructions for one request."""
    short, long = (collected(clone, records, connections) for records in (SHORT, LONG))
    return (long - short) / (LONG - SHORT)


def compare(other: Path, connections: int) -> None:
    """Measure both and print the table."""
    before, after = per_request(other, connections), per_request(Path.cwd(), connections)
    title = f"Instructions for a Produce of one record, {connections} connections"
    row = ("outside the system", f"{before:,.0f}", f"{after:,.0f}", f"{after / before:.2f}")
    print_table(title, ("", other.name, "this clone", "ratio"), [row])


if __name__ == "__main__":
    compare(Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
