"""Makes `.venv` hold what a profile needs: `python3 bin/environment <profile>`.

Called by `ensure.sh` when its quick check fails; standard library only, since it runs
before anything is installed.
"""

import errno
import os
import sys
from pathlib import Path

from failure import SetupError
from guard import one_at_a_time
from kernels import build_kernels, kernel_inputs, missing_kernels
from packages import check_free_disk, last_lines, make_environment, put_in_place
from profiles import OLDEST_PYTHON, PROFILES, Profile, in_order
from progress import Progress
from stamps import (
    State,
    compiler,
    digest_of,
    has_same_packages,
    note_compiler,
    python_identity,
    read_state,
    write_stamps,
)


def ensure(root: Path, wanted: str) -> None:
    """Bring `.venv` up to date, changing no more than what has changed."""
    venv = root / ".venv"
    state = read_state(venv)
    if not (venv / "bin" / "python").exists():
        state = State()
    profiles = in_order({wanted, *state.locks})
    is_packaged = has_same_packages(state, root, {wanted})
    progress = Progress(steps=(0 if is_packaged else 1 + len(profiles)) + (0 if is_pure() else 1))
    if not is_packaged:
        state = renew_packages(root, state, profiles, progress)
    if is_pure():
        progress.say("moldau: MOLDAU_PURE is set, kernels stay uncompiled")
    elif not has_kernels(root, state):
        renew_kernels(root, state, progress)
    write_stamps(venv, state)


def renew_packages(root: Path, state: State, profiles: list[Profile], progress: Progress) -> State:
    """Replace the environment by one that has these profiles."""
    check_free_disk(root, profiles)
    names = " + ".join(profile.name for profile in profiles)
    duration_s = sum(profile.duration_s for profile in profiles)
    progress.say(f"moldau: making .venv ({names}), about {duration_s} s")
    make_environment(root, profiles, progress)
    put_in_place(root)
    is_same_python = state.python == python_identity()
    return State(
        root=str(root),
        python=python_identity(),
        locks={profile.name: digest_of([profile.lock_file(root)]) for profile in profiles},
        kernels=state.kernels if is_same_python else None,
        built=state.built if is_same_python else [],
    )


def has_kernels(root: Path, state: State) -> bool:
    """Whether every kernel was compiled from what its source is now."""
    return (
        state.kernels == digest_of(kernel_inputs(root))
        and not missing_kernels(root, [Path(path) for path in state.built])
        and all(map(os.path.isfile, state.built))
    )


def renew_kernels(root: Path, state: State, progress: Progress) -> None:
    """Compile the kernels; without a compiler everything works, slower."""
    digest = digest_of(kernel_inputs(root))  # before: a source may be edited meanwhile
    with progress.step("compiled kernels"):
        built, output = build_kernels(root, root / ".venv" / "bin" / "python")
    missing = missing_kernels(root, built)
    note_compiler(root / ".venv", has_kernels=not missing)
    if missing:
        reason = "the C compiler failed" if compiler() else "there is no C compiler"
        if compiler():
            progress.say(last_lines(output))
        progress.say(
            f"moldau: {reason}, so {', '.join(missing)} runs as Python, slower. To get it"
            " compiled: apt-get install -y gcc python3-dev (macOS: xcode-select --install)"
        )
    state.kernels = digest
    state.built = [str(path) for path in built]


def is_pure() -> bool:
    return os.environ.get("MOLDAU_PURE", "") not in ("", "0")


def explained(error: OSError, root: Path) -> str:
    """What the system refused, in one line, and what to do where that is known.

    There is no setting for an environment elsewhere: kernels lie beside their sources.
    """
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return (
            f"{error.filename} cannot be written: {error.strerror}. Copy the clone to a directory"
            f" of yours (cp -R {root} ~/moldau), or let its owner run the command once: then"
            " everybody can"
        )
    return f"{error.filename}: {error.strerror}"


def main() -> int:
    root = Path(__file__).resolve().parents[2]
    if len(sys.argv) != 2 or sys.argv[1] not in PROFILES:
        print(f"usage: python3 bin/environment {'|'.join(PROFILES)}", file=sys.stderr)
        return 2
    if sys.version_info < OLDEST_PYTHON:
        print("moldau: needs Python 3.11 or newer", file=sys.stderr)
        return 1
    try:
        with one_at_a_time(root / ".venv-lock"):
            ensure(root, sys.argv[1])
    except SetupError as error:
        print(f"moldau: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"moldau: {explained(error, root)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nmoldau: set-up interrupted; the next run starts it again", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
