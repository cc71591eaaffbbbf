"""Refreshes the lock files: exact versions and hashes of what each profile installs."""

import argparse
import subprocess
import sys
from pathlib import Path

from profiles import OLDEST_PYTHON, PROFILES, Profile, build_requirements

HEADER = """\
# Profile "{name}": {purpose}.
# Made by bin/lock from pyproject.toml; do not edit.
"""


def refresh(root: Path, profile: Profile, *, constraints: list[Path], upgrade: bool) -> None:
    """Resolve one profile; versions that earlier profiles fixed stay as they are."""
    lock_file = profile.lock_file(root)
    lock_file.parent.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "uv", "pip", "compile", "pyproject.toml", "-"]
    command += ["--universal", "--python-version", ".".join(map(str, OLDEST_PYTHON))]
    command += ["--generate-hashes", "--no-header", "--no-annotate", "--quiet"]
    command += ["--output-file", str(lock_file)]
    for extra in profile.extras:
        command += ["--extra", extra]
    for constraint in constraints:
        command += ["--constraint", str(constraint)]
    if upgrade:
        command.append("--upgrade")
    subprocess.run(
        command, cwd=root, input="\n".join(build_requirements(root)), text=True, check=True
    )
    pins = lock_file.read_text(encoding="utf-8")
    header = HEADER.format(name=profile.name, purpose=profile.purpose)
    lock_file.write_text(header + pins, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(prog="bin/lock", description=__doc__)
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions allowed")
    upgrade = parser.parse_args().upgrade
    root = Path(__file__).resolve().parents[2]
    done: list[Path] = []
    for profile in PROFILES.values():
        refresh(root, profile, constraints=done, upgrade=upgrade)
        done.append(profile.lock_file(root))
        print(f"{done[-1].relative_to(root)}: {done[-1].read_text().count('==')} pins")


if __name__ == "__main__":
    main()
