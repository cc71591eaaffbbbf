"""A virtual environment filled from lock files, made aside and put in place at once.

An environment is never changed, only replaced: whoever finds `.venv` with its stamps
finds all of it, and packages that left the lock file are gone.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from failure import SetupError
from profiles import Profile
from progress import Progress

BUILDING = ".venv-building"
REPLACED = ".venv-replaced"
PIN = re.compile(r"^[A-Za-z0-9_.-]+==", re.MULTILINE)
LOG_LINES_SHOWN = 15


def check_free_disk(root: Path, profiles: list[Profile], free_mb: int | None = None) -> None:
    """Refuse early what would otherwise end half-way with a full disk."""
    needed_mb = sum(profile.disk_mb for profile in profiles)
    if free_mb is None:
        free_mb = shutil.disk_usage(root).free // 2**20
    if free_mb < needed_mb:
        names = ", ".join(profile.name for profile in profiles)
        raise SetupError(
            f"not enough free disk: {names} needs about {needed_mb} MB in {root}, "
            f"{free_mb} MB are free"
        )


def make_environment(root: Path, profiles: list[Profile], progress: Progress) -> None:
    """Make a complete `.venv-building`; `put_in_place` is what makes it `.venv`."""
    building = root / BUILDING
    for leftover in (building, root / REPLACED):
        shutil.rmtree(leftover, ignore_errors=True)
    with progress.step(f"Python {sys.version.split()[0]} environment"):
        create(building)
    for profile in profiles:
        with progress.step(f"packages of {profile.name} ({profile.purpose})"):
            install(building, profile.lock_file(root), progress)
    link_sources(root, building)


def create(venv: Path) -> None:
    """An empty environment with pip in it."""
    # The interpreter's real name has its version in it: if that version is removed the
    # link breaks and is noticed; `python3` would quietly become another version.
    base: str = getattr(sys, "_base_executable", sys.executable)
    wheel = bundled_pip()
    if wheel is None:
        make = [[os.path.realpath(base), "-m", "venv", str(venv)]]
    else:
        # What venv does itself, but without compiling all of pip: half the time.
        make = [[os.path.realpath(base), "-m", "venv", "--without-pip", str(venv)]]
        pip = [str(venv / "bin" / "python"), str(wheel / "pip"), "install", "--quiet"]
        make.append([*pip, "--no-index", "--no-deps", "--no-compile", str(wheel)])
    for command in make:
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode != 0:
            raise SetupError(
                "python3 -m venv failed; on Debian and Ubuntu: apt-get install -y python3-venv\n"
                + last_lines(run.stdout + run.stderr)
            )


def bundled_pip() -> Path | None:
    """The wheel of pip that Python brings along."""
    spec = importlib.util.find_spec("ensurepip")
    if spec is None or spec.origin is None:
        return None
    wheels = sorted(Path(spec.origin).parent.glob("_bundled/pip-*.whl"))
    return wheels[-1] if wheels else None


def install(venv: Path, lock_file: Path, progress: Progress) -> None:
    """Install exactly what the lock file names, every archive checked against its hash."""
    command = [str(venv / "bin" / "python"), "-m", "pip", "install"]
    command += ["--require-hashes", "--no-deps", "--no-build-isolation", "--no-compile"]
    command += ["--disable-pip-version-check", "--no-input", "--progress-bar", "off"]
    command += ["--requirement", str(lock_file)]
    pins = len(PIN.findall(lock_file.read_text(encoding="utf-8")))
    output: list[str] = []
    seen = 0
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as pip:
        assert pip.stdout is not None
        for line in pip.stdout:
            output.append(line)
            words = line.split()
            if words[:1] == ["Collecting"]:
                seen += 1
                progress.at(0.8 * seen / pins, words[1])
            elif words[:1] == ["Installing"]:
                progress.at(0.8, "unpacking")
    if pip.returncode != 0:
        raise SetupError(
            f"pip could not install {lock_file.name}; is the network reachable?\n"
            + last_lines("".join(output))
        )


def link_sources(root: Path, venv: Path) -> None:
    """Make `import moldau` find the sources of this clone."""
    (site_packages,) = venv.glob("lib/python*/site-packages")
    sources = os.path.relpath(root / "src", site_packages)
    (site_packages / "moldau.pth").write_text(sources + "\n", encoding="utf-8")


def put_in_place(root: Path) -> None:
    """Turn `.venv-building` into `.venv`.

    Scripts name their interpreter by its full path, hence the rewriting. Between the
    two renames there is no `.venv`; who comes then waits for the file lock.
    """
    building, final, replaced = root / BUILDING, root / ".venv", root / REPLACED
    old, new = os.fsencode(building), os.fsencode(final)
    for script in [*(building / "bin").iterdir(), building / "pyvenv.cfg"]:
        if script.is_symlink() or not script.is_file():
            continue
        content = script.read_bytes()
        if old in content and b"\0" not in content:
            script.write_bytes(content.replace(old, new))
    if final.exists() or final.is_symlink():
        os.rename(final, replaced)
    os.rename(building, final)
    if replaced.is_symlink():
        replaced.unlink()
    shutil.rmtree(replaced, ignore_errors=True)


def last_lines(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.strip().splitlines()[-LOG_LINES_SHOWN:])
