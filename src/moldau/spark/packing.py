"""An archive of Moldau for executors, which need PySpark and pyarrow besides.

python -m moldau.spark.packing moldau.tar.gz
"""

import importlib.util
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

PACKAGES = ("moldau", "pyspark_moldau", "cramjam")
"""Ours with its compiled kernels, which cannot be imported from a zip, and the codecs."""

_SUFFIXES = (".py", ".so", ".pyi", ".typed")


def pack(archive: Path) -> int:
    """Write the archive; returns how many bytes it has. Fits the Python it was written by."""
    with tarfile.open(archive, "w:gz", compresslevel=6) as output:
        for file, name in contents():
            output.add(file, name)
    return archive.stat().st_size


def contents() -> Iterator[tuple[Path, str]]:
    """Every file, with its place in the archive."""
    for package in PACKAGES:
        spec = importlib.util.find_spec(package)
        assert spec is not None, f"{package} is installed with this module"
        assert spec.origin is not None, f"{package} is a package with files"
        directory = Path(spec.origin).parent
        for file in sorted(directory.rglob("*")):
            if file.suffix in _SUFFIXES and "__pycache__" not in file.parts:
                yield file, f"{package}/{file.relative_to(directory)}"


def main(arguments: list[str]) -> None:
    if len(arguments) != 1:
        raise SystemExit(f"usage: python -m {__spec__.name} ARCHIVE.tar.gz")
    archive = Path(arguments[0])
    size = pack(archive)
    print(
        f"{archive}: {size / 1e6:.1f} MB, for Python {sys.version_info[0]}.{sys.version_info[1]}\n"
        f"  spark-submit --archives {archive}#moldau "
        "--conf spark.executorEnv.PYTHONPATH=./moldau ..."
    )


if __name__ == "__main__":
    main(sys.argv[1:])
