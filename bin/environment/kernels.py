"""The compiled kernels: built aside from the table in setup.py, then moved beside their sources."""

import ast
import os
import shutil
import subprocess
from pathlib import Path


def kernel_table(root: Path) -> dict[str, str]:
    """`KERNELS` of setup.py: compiled module name -> its source."""
    tree = ast.parse((root / "setup.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "KERNELS":
            table: dict[str, str] = ast.literal_eval(node.value)
            return table
    raise AssertionError("setup.py has no KERNELS table")


def kernel_inputs(root: Path) -> list[Path]:
    """Every file that decides what a kernel does, declarations beside the sources included."""
    sources = [root / source for source in kernel_table(root).values()]
    folders = sorted({source.parent for source in sources})
    declarations = [
        path
        for folder in folders
        for pattern in ("*.pxd", "*.h")
        for path in sorted(folder.glob(pattern))
    ]
    inputs = [root / "setup.py", root / "requirements" / "base.lock", *sources, *declarations]
    return [path for path in inputs if path.is_file()]


def build_kernels(root: Path, python: Path) -> tuple[list[Path], str]:
    """Compile every kernel that has a source.

    Returns the files that came out, and what the compiler said. A kernel that
    could not be built loses its older file as well: stale machine code would
    silently disagree with the source.
    """
    aside = root / "build" / "kernels"
    shutil.rmtree(aside, ignore_errors=True)
    command = [str(python), "setup.py", "-q", "build_ext", "--force"]
    command += ["--parallel", str(os.cpu_count() or 1)]
    command += ["--build-lib", str(aside / "lib"), "--build-temp", str(aside / "temp")]
    run = subprocess.run(
        command,
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    for stale in (root / "src").rglob("*.so"):
        stale.unlink()
    built: list[Path] = []
    for fresh in sorted((aside / "lib").rglob("*.so")):
        built.append(root / "src" / fresh.relative_to(aside / "lib"))
        os.replace(fresh, built[-1])
    shutil.rmtree(aside, ignore_errors=True)
    return built, run.stdout


def missing_kernels(root: Path, built: list[Path]) -> list[str]:
    """The kernels that have a source but no compiled file."""
    names = {path.name.split(".")[0] for path in built}
    return [
        name
        for name, source in kernel_table(root).items()
        if (root / source).is_file() and name.rpartition(".")[2] not in names
    ]
