"""Compiling the kernels: aside, then in place; what fails leaves no stale machine code."""

import sys
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


@pytest.mark.needs("cc")
def test_the_kernels_of_this_clone_are_compiled() -> None:
    """Otherwise the kernels' tests would compare Python with itself."""
    for name, source in kernels.kernel_table(ROOT).items():
        if (ROOT / source).exists():
            folder, _, module = name.replace(".", "/").rpartition("/")
            assert list((ROOT / "src" / folder).glob(f"{module}.*.so")), name
