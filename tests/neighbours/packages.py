"""Environments with Python packages of fixed versions, kept in the cache."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

from conformance.apache.cache import cache_directory, exclusive

# Packages that others need are as they were on this day.
_DAY = "2026-11-19T00:00:00Z"
_INSTALL_S = 280


def environment_of(name: str, *requirements: str) -> Path:
    """The directory of programs of an environment that has these packages."""
    digest = hashlib.sha256(" ".join([sys.version, _DAY, *requirements]).encode())
    folder = cache_directory() / "python"
    folder.mkdir(exist_ok=True)
    target = folder / f"{name}-{digest.hexdigest()[:16]}"
    with exclusive("python"):
        if not (target / "complete").exists():
            _uv("venv", "--clear", "--python", sys.executable, str(target))
            install = ["pip", "install", "--python", str(target / "bin" / "python")]
            _uv(*install, "--exclude-newer", _DAY, *requirements)
            (target / "complete").touch()
    return target / "bin"


def _uv(*arguments: str) -> None:
    environment = {**os.environ, "UV_CACHE_DIR": str(cache_directory() / "uv")}
    done = subprocess.run(
        [sys.executable, "-m", "uv", "--quiet", *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_INSTALL_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout
