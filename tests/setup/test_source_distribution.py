"""A source distribution holds all that its kernels are compiled from."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = "import setuptools.build_meta as backend; backend.build_{}('{}')"


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project, since making a distribution leaves traces."""
    copy = tmp_path_factory.mktemp("sources")
    for name in ("setup.py", "pyproject.toml", "MANIFEST.in", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("*.so", "*.pyc"))
    return copy


@pytest.fixture(scope="module")
def distributed(copy: Path) -> set[str]:
    """The paths in a source distribution."""
    with tarfile.open(build(copy, "sdist")) as members:
        return {name.partition("/")[2] for name in members.getnames()}


def build(copy: Path, kind: str) -> Path:
    """Make a distribution of a kind; nothing is compiled for it."""
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", BUILD.format(kind, f"dist-{kind}")],
        cwd=copy,
        env={**os.environ, "MOLDAU_PURE": "1"},
        capture_output=True,
        check=True,
    )
    [archive] = (copy / f"dist-{kind}").iterdir()
    return archive


@pytest.mark.parametrize("kind", ["py", "pxd", "c"])
def test_every_source_is_in_it(copy: Path, distributed: set[str], kind: str) -> None:
    sources = {str(path.relative_to(copy)) for path in (copy / "src").rglob(f"*.{kind}")}
    assert sources
    assert sources <= distributed


def test_type_checkers_are_told_that_there_are_types(copy: Path, distributed: set[str]) -> None:
    assert "src/moldau/py.typed" in distributed
    with zipfile.ZipFile(build(copy, "wheel")) as wheel:
        assert {"moldau/py.typed", "moldau/client/options.py"} <= {*wheel.namelist()}


def test_the_build_is_in_it(distributed: set[str]) -> None:
    assert {"setup.py", "pyproject.toml", "LICENSE"} <= distributed
