"""kazoo's own tests pass on our tree, all but those of what it does not have."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from conformance.our_broker import SOURCES, TESTS

# Several servers, an ensemble that changes, sessions that only read, TLS: see docs/one-machine.md.
ABSENT = (*("test_update_host_list", "TestReconfig", "TestReadOnlyMode", "TestSSLClient"),)
# What takes longest is run beside each other: it mostly waits.
TOGETHER = (
    ("client", "connection", "interrupt", "queue", "barrier", "counter", "election", "party"),
    ("lock", "lease"),
    ("watchers",),
    ("partitioner",),
)
_PATIENCE_S = 240


def run(modules: tuple[str, ...], directory: Path) -> tuple[int, str]:
    """The exit code of pytest, and what it has said."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", str(directory)),
            *("-p", "conformance.kazoo_suite", "-p", "no:cacheprovider"),
            *("-k", " and ".join(f"not {name}" for name in ABSENT)),
            *("--pyargs", *(f"kazoo.tests.test_{module}" for module in modules)),
        ],
        env={**os.environ, "PYTHONPATH": f"{SOURCES}:{TESTS}"},
        capture_output=True,
        text=True,
        timeout=_PATIENCE_S,
        check=False,
    )
    return done.returncode, done.stdout[-5_000:]


def test_kazoo_s_own_tests_pass(tmp_path: Path) -> None:
    with ThreadPoolExecutor() as threads:
        for code, said in threads.map(lambda modules: run(modules, tmp_path), TOGETHER):
            assert code == 0, said
