"""Programs in Go, Rust and JavaScript, built into the cache with packages of fixed versions."""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from conformance.apache.cache import cache_directory, exclusive

SOURCES = Path(__file__).parent
_BUILD_S = 280


def go_program(name: str, *, sources: Path = SOURCES) -> list[str]:
    """The command that runs `clients/<name>`, compiled."""
    sources /= name
    target = _target(sources, "go")
    with exclusive("go"):
        if not target.exists():
            modules = cache_directory() / "go" / "modules"
            _run(
                ["go", "build", "-modcacherw", "-o", str(target), "."],
                cwd=sources,
                environment={"GOMODCACHE": str(modules), "GOFLAGS": "-mod=readonly"},
            )
    return [str(target)]


def rust_program(name: str) -> list[str]:
    """The command that runs `clients/<name>`, compiled as quickly as can be."""
    sources = SOURCES / name
    target = _target(sources, "rust")
    with exclusive("rust"):
        if not target.exists():
            built = cache_directory() / "rust" / "build"
            _run(
                ["cargo", "build", "--locked", "--quiet", "--target-dir", str(built)],
                cwd=sources,
                environment={"CARGO_HOME": str(cache_directory() / "rust" / "crates")},
            )
            shutil.copy(built / "debug" / name, target)
    return [str(target)]


def node_program(
    name: str, main: str = "traffic.js", *, sources: Path = SOURCES, build: Sequence[str] = ()
) -> list[str]:
    """The command that runs a file of `clients/<name>`, its packages installed, and built."""
    sources /= name
    target = _target(sources, "npm")
    with exclusive("npm"):
        if not target.exists():
            aside = target.with_name(f"{target.name}.{os.getpid()}")
            shutil.copytree(sources, aside)
            packages = cache_directory() / "npm" / "packages"
            _run(
                ["npm", "ci", "--no-audit", "--no-fund", "--cache", str(packages)],
                cwd=aside,
                environment={},
            )
            if build:
                _run(list(build), cwd=aside, environment={})
            aside.rename(target)
    return ["node", str(target / main)]


def _target(sources: Path, kind: str) -> Path:
    digest = hashlib.sha256()
    for source in sorted(sources.iterdir()):
        digest.update(source.name.encode() + source.read_bytes())
    folder = cache_directory() / kind
    folder.mkdir(exist_ok=True)
    return folder / f"{sources.name}-{digest.hexdigest()[:16]}"


def _run(command: list[str], *, cwd: Path, environment: dict[str, str]) -> None:
    run = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_BUILD_S,
        check=False,
    )
    assert run.returncode == 0, run.stdout
