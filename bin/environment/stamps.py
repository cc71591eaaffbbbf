"""What the environment was made from, so that a change is seen.

Two kinds, both inside `.venv` and written last: a set-up that was interrupted has none.

`stamps/<profile>` is for `ensure.sh`, which runs before every command: a list that
`sha256sum --check` understands, of every file that went into the environment. With
`MOLDAU_PURE=1` it is `stamps/<profile>-pure`, which leaves out the kernels.

`stamps/state.json` is for the slow path: it tells which of the parts has changed.
"""

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path

from kernels import kernel_inputs
from profiles import PROFILES, in_order

STATE = "state.json"
UNCOMPILED = "uncompiled"


@dataclass(slots=True)
class State:
    """The environment as it was made."""

    root: str = ""  # scripts and stamps hold absolute paths: a moved clone starts anew
    python: str = ""
    locks: dict[str, str] = field(default_factory=dict)  # profile -> digest of its lock file
    kernels: str | None = None  # digest of the kernels' inputs; None: never built
    built: list[str] = field(default_factory=list)  # the compiled modules' files


def read_state(venv: Path) -> State:
    """The state of a complete environment, or an empty one."""
    try:
        return State(**json.loads((venv / "stamps" / STATE).read_text(encoding="utf-8")))
    except (FileNotFoundError, NotADirectoryError, TypeError, ValueError):
        return State()


def has_same_packages(state: State, root: Path, wanted: set[str]) -> bool:
    """Whether the installed packages are those that the lock files name today."""
    return (
        state.root == str(root)
        and set(state.locks) >= {profile.name for profile in in_order(wanted)}
        and all(
            name in PROFILES and digest == digest_of([PROFILES[name].lock_file(root)])
            for name, digest in state.locks.items()
        )
    )


def write_stamps(venv: Path, state: State) -> None:
    """Declare the environment complete.

    The kernels count only if they were compiled from what their sources are now: after
    a pure run, or an edit while they were compiled, there is still something to do.
    """
    root = Path(state.root)
    folder = venv / "stamps"
    folder.mkdir(exist_ok=True)
    replace_text(folder / STATE, json.dumps(asdict(state), indent=1))
    are_kernels_fresh = state.kernels == digest_of(kernel_inputs(root))
    for name in state.locks:
        inputs = [PROFILES[name].lock_file(root), root / "pyproject.toml", root / "setup.py"]
        replace_text(folder / f"{name}-pure", checksums(inputs))
        if are_kernels_fresh:
            kernels = [*kernel_inputs(root), *(Path(path) for path in state.built)]
            replace_text(folder / name, checksums(dict.fromkeys([*inputs, *kernels])))


def note_compiler(venv: Path, *, has_kernels: bool) -> None:
    """Remember which compiler failed, so that another one gets its chance (see ensure.sh)."""
    marker = venv / "stamps" / UNCOMPILED
    if has_kernels:
        marker.unlink(missing_ok=True)
    else:
        marker.parent.mkdir(exist_ok=True)
        replace_text(marker, compiler())


def compiler() -> str:
    """The C compiler as `ensure.sh` finds it; empty if there is none."""
    command = ["/bin/sh", "-c", 'command -v "${CC:-cc}"']
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def digest_of(paths: list[Path]) -> str:
    """One digest of several files; a missing file counts as empty."""
    total = hashlib.sha256()
    for path in paths:
        content = path.read_bytes() if path.is_file() else b""
        total.update(hashlib.sha256(content).digest())
    return total.hexdigest()


def checksums(paths: "list[Path] | dict[Path, None]") -> str:
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path}\n"
        for path in paths
        if path.is_file()
    ]
    return "".join(lines)


def python_identity() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def replace_text(path: Path, text: str) -> None:
    aside = path.with_name(path.name + ".new")
    aside.write_text(text, encoding="utf-8")
    os.replace(aside, path)
