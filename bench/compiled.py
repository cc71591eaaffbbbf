"""The load generators in C: compiled on first use, run to their end."""

import json
import os
import shutil
import subprocess
from pathlib import Path

_SOURCES = Path(__file__).parent / "load"
_TIMEOUT_S = 300


def run_compiled(
    name: str, *arguments: str, library: str | None = None, stdin: bytes = b""
) -> dict[str, float]:
    """Run `load/<name>.c`; what it printed."""
    done = subprocess.run(
        [str(_program(name, library)), *arguments],
        input=stdin,
        capture_output=True,
        timeout=_TIMEOUT_S,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{name} {' '.join(arguments)}: {done.stderr.decode()[-500:]}")
    result: dict[str, float] = json.loads(done.stdout)
    return result


def _program(name: str, library: str | None) -> Path:
    cache = Path(os.environ.get("MOLDAU_CACHE", ".cache"))
    source, program = _SOURCES / f"{name}.c", cache / name
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        if not shutil.which("cc"):
            raise SystemExit("needs a C compiler: apt-get install -y gcc libc6-dev")
        cache.mkdir(parents=True, exist_ok=True)
        command = ["cc", "-O2", "-Wall", "-o", str(program), str(source)]
        if subprocess.run(
            [*command, *([f"-l{library}"] if library else [])], check=False
        ).returncode:
            needed = f"lib{library}: apt-get install -y lib{library}-dev" if library else "cc"
            raise SystemExit(f"needs {needed}")
    return program
