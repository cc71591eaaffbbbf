"""The C load generator: compiled on first use against the system's librdkafka."""

import json
import os
import shutil
import subprocess
from pathlib import Path

_SOURCE = Path(__file__).parent / "load" / "load.c"
_TIMEOUT_S = 300


def run_load(*arguments: str) -> dict[str, float]:
    """Run it to its end; what it printed."""
    done = subprocess.run(
        [str(_program()), *arguments],
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_S,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"load {' '.join(arguments)}: {done.stderr[-500:]}")
    result: dict[str, float] = json.loads(done.stdout)
    return result


def _program() -> Path:
    cache = Path(os.environ.get("MOLDAU_CACHE", ".cache"))
    program = cache / "load"
    if not program.exists() or program.stat().st_mtime < _SOURCE.stat().st_mtime:
        if not shutil.which("cc"):
            raise SystemExit("needs a C compiler: apt-get install -y gcc libc6-dev")
        cache.mkdir(parents=True, exist_ok=True)
        command = ["cc", "-O2", "-Wall", "-o", str(program), str(_SOURCE), "-lrdkafka"]
        if subprocess.run(command, check=False).returncode != 0:
            raise SystemExit("needs librdkafka: apt-get install -y librdkafka-dev")
    return program
