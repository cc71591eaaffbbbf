"""Compiling the kernels: aside, then in place; what fails leaves no stale machine code."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import kernels

ROOT = Path(__file__).resolve().parents[2]
SOURCE = """\
#include <Python.h>
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_one", NULL, -1, NULL};
PyMODINIT_FUNC PyInit__one(void) { return PyModule_Create(&module); }
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A project with the real setup.py and one small kernel."""
    package = tmp_path / "src" / "moldau"
    package.mkdir(parents=True)
    (package / "one.c").write_text(SOURCE, encoding="utf-8")
    script = (ROOT / "setup.py").read_text(encoding="utf-8")
    start = script.index("KERNELS = {")
    end = script.index("}\n", start) + 2
    replaced = script[:start] + 'KERNELS = {"moldau._one": "src/moldau/one.c"}\n' + script[end:]
    (tmp_path / "setup.py").write_text(replaced, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text("", encoding="utf-8")
    return tmp_path


@pytest.mark.needs("cc")
def test_a_kernel_is_put_beside_its_source(clone: Path) -> None:
    built, output = kernels.build_kernels(clone, Path(sys.executable))
    assert [path.parent for path in built] == [clone / "src" / "moldau"], output
    assert kernels.missing_kernels(clone, built) == []


def test_without_a_compiler_the_older_kernel_is_removed(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "/bin/false")
    stale = clone / "src" / "moldau" / "_one.cpython-311-x86_64-linux-gnu.so"
    stale.touch()
    built, _ = kernels.build_kernels(clone, Path(sys.executable))
    assert built == []
    assert not stale.exists()
    assert kernels.missing_kernels(clone, built) == ["moldau._one"]


def test_declarations_beside_a_kernel_are_its_inputs(clone: Path) -> None:
    declaration = clone / "src" / "moldau" / "_one.pxd"
    declaration.touch()
    inputs = kernels.kernel_inputs(clone)
    assert inputs == [clone / "setup.py", clone / "src" / "moldau" / "one.c", declaration]


PYPROJECT = """\
[project]
name = "one"
version = "1"
[tool.setuptools.packages.find]
where = ["src"]
"""
WHEEL = "import setuptools.build_meta as backend; print(backend.build_wheel('dist'))"


@pytest.fixture
def package(clone: Path) -> Path:
    """The project with a kernel in C and one that goes through Cython, as pip would build it."""
    (clone / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    script = (clone / "setup.py").read_text(encoding="utf-8")
    table = '{"moldau._one": "src/moldau/one.c", "moldau._two": "src/moldau/two.py"}'
    script = script.replace('{"moldau._one": "src/moldau/one.c"}', table)
    (clone / "setup.py").write_text(script, encoding="utf-8")
    (clone / "src" / "moldau" / "__init__.py").touch()
    (clone / "src" / "moldau" / "two.py").write_text("TWO = 2\n", encoding="utf-8")
    runtime = clone / "src" / "moldau" / "runtime"
    runtime.mkdir()
    (runtime / "__init__.py").touch()
    return clone


def installed_names(package: Path, compiler: str) -> list[str]:
    """What a wheel that is built with this compiler would install."""
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WHEEL],
        cwd=package,
        env={**os.environ, "CC": compiler, "MOLDAU_PURE": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    [wheel] = (package / "dist").iterdir()
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if "dist-info" not in name]
    return sorted(name.partition(".")[0] for name in names if name.endswith((".py", ".so")))


SOURCES = ["moldau/__init__", "moldau/runtime/__init__", "moldau/two"]


@pytest.mark.parametrize("compiler", ["/nonexistent/cc", "/bin/false"])
def test_without_a_compiler_a_package_is_its_sources(package: Path, compiler: str) -> None:
    assert installed_names(package, compiler) == SOURCES


@pytest.mark.needs("cc")
def test_with_a_compiler_a_package_has_all_kernels(package: Path) -> None:
    compiler = shutil.which("cc")
    assert compiler is not None
    kernels_too = ["moldau/_one", "moldau/_two", "moldau/runtime/_cython"]
    assert installed_names(package, compiler) == sorted(SOURCES + kernels_too)


@pytest.mark.needs("cc")
def test_the_kernels_of_this_clone_are_compiled() -> None:
    """Otherwise the kernels' tests would compare Python with itself."""
    for name, source in kernels.kernel_table(ROOT).items():
        if (ROOT / source).exists():
            folder, _, module = name.replace(".", "/").rpartition("/")
            assert list((ROOT / "src" / folder).glob(f"{module}.*.so")), name
