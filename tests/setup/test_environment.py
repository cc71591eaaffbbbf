"""The slow path, part by part: nothing here needs a network."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest

import packages
import stamps
from failure import SetupError
from kernels import kernel_inputs
from profiles import PROFILES, in_order
from progress import Progress
from stamps import State

ROOT = Path(__file__).resolve().parents[2]
WAIT_LINE = "waiting for the set-up in process"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The files that an environment is made from."""
    (tmp_path / "requirements").mkdir()
    for profile in PROFILES.values():
        profile.lock_file(tmp_path).write_text(f"# {profile.name}\n", encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text("", encoding="utf-8")
    (tmp_path / "setup.py").write_text("KERNELS = {}\n", encoding="utf-8")
    return tmp_path


def made(clone: Path, *names: str) -> State:
    locks = {name: stamps.digest_of([PROFILES[name].lock_file(clone)]) for name in names}
    digest = stamps.digest_of(kernel_inputs(clone))
    return State(root=str(clone), python="3.11", locks=locks, kernels=digest)


def test_every_profile_stands_on_the_base() -> None:
    assert [profile.name for profile in in_order({"dev"})] == ["base", "dev"]
    assert [profile.name for profile in in_order({"dev", "spark"})] == ["base", "spark", "dev"]


def test_installed_packages_are_kept_while_their_locks_stay(clone: Path) -> None:
    state = made(clone, "base", "dev")
    assert stamps.has_same_packages(state, clone, {"base"})
    assert stamps.has_same_packages(state, clone, {"dev"})
    assert not stamps.has_same_packages(state, clone, {"spark"})


def test_a_changed_lock_renews_even_a_profile_that_was_not_asked_for(clone: Path) -> None:
    state = made(clone, "base", "dev")
    PROFILES["dev"].lock_file(clone).write_text("changed", encoding="utf-8")
    assert not stamps.has_same_packages(state, clone, {"base"})


def test_a_moved_clone_is_made_anew(clone: Path) -> None:
    assert not stamps.has_same_packages(made(clone, "base"), clone / "moved", {"base"})


def test_the_state_survives_being_written(clone: Path) -> None:
    venv = clone / ".venv"
    venv.mkdir()
    state = made(clone, "base")
    stamps.write_stamps(venv, state)
    assert stamps.read_state(venv) == state


@pytest.mark.parametrize("text", ["", "{", "[]", '{"unknown": 1}'])
def test_a_damaged_state_is_no_state(clone: Path, text: str) -> None:
    folder = clone / ".venv" / "stamps"
    folder.mkdir(parents=True)
    (folder / stamps.STATE).write_text(text, encoding="utf-8")
    assert stamps.read_state(clone / ".venv") == State()


def test_a_stamp_lists_what_sha256sum_can_check(clone: Path) -> None:
    venv = clone / ".venv"
    venv.mkdir()
    stamps.write_stamps(venv, made(clone, "base"))
    command = ["sha256sum", "--check", "--status", str(venv / "stamps" / "base")]
    assert subprocess.run(command, check=False).returncode == 0
    (clone / "pyproject.toml").write_text("changed", encoding="utf-8")
    assert subprocess.run(command, check=False).returncode == 1


@pytest.mark.parametrize("kernels", [None, "of an older source"])
def test_kernels_that_are_not_fresh_leave_only_the_pure_stamp(
    clone: Path, kernels: str | None
) -> None:
    venv = clone / ".venv"
    venv.mkdir()
    state = made(clone, "base")
    state.kernels = kernels
    stamps.write_stamps(venv, state)
    assert (venv / "stamps" / "base-pure").exists()
    assert not (venv / "stamps" / "base").exists()


def test_a_full_disk_is_refused_before_anything_is_made(clone: Path) -> None:
    profiles = in_order({"spark"})
    with pytest.raises(SetupError, match=r"base, spark needs about 2300 MB.* 2299 MB are free"):
        packages.check_free_disk(clone, profiles, free_mb=2299)
    packages.check_free_disk(clone, profiles, free_mb=2300)


def test_an_environment_is_put_in_place_whole(clone: Path) -> None:
    building = clone / packages.BUILDING
    (building / "bin").mkdir(parents=True)
    (building / "pyvenv.cfg").write_text(f"command = {building}\n", encoding="utf-8")
    (building / "bin" / "tool").write_text(f"#!{building}/bin/python\n", encoding="utf-8")
    (building / "bin" / "binary").write_bytes(b"\0" + os.fsencode(building))
    (clone / ".venv").mkdir()
    (clone / ".venv" / "old").touch()
    packages.put_in_place(clone)
    script = (clone / ".venv" / "bin" / "tool").read_text(encoding="utf-8")
    assert script == f"#!{clone}/.venv/bin/python\n"
    assert (clone / ".venv" / "bin" / "binary").read_bytes() == b"\0" + os.fsencode(building)
    assert not (clone / ".venv" / "old").exists()
    assert sorted(path.name for path in clone.glob(".venv*")) == [".venv"]


def test_a_second_maker_waits_and_says_for_whom(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from guard import one_at_a_time\n"
        "with one_at_a_time(Path(sys.argv[1])):\n"
        "    print('in', flush=True); sys.stdin.readline()\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "bin" / "environment")}

    def maker() -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path / "lock")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )

    with maker() as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "in\n"
        with maker() as second:
            assert second.stderr is not None
            assert second.stderr.readline().endswith(f"{WAIT_LINE} {first.pid}\n")
            first.kill()  # a killed maker blocks nobody
            assert second.communicate("\n")[0] == "in\n"


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_a_bar_in_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    screen = Terminal()
    with Progress(2, screen).step("packages") as progress:
        progress.at(0.5, "cramjam")
        progress.at(0.6, "x" * 100)
    assert "\r\x1b[K######..................  25% packages: cramjam" in screen.getvalue()
    assert max(len(line) for line in screen.getvalue().split("\r\x1b[K")) == 59
    assert screen.getvalue().endswith("s)\n")


def test_progress_is_plain_lines_elsewhere() -> None:
    screen = StringIO()
    with Progress(1, screen).step("packages"):
        pass
    assert "\r" not in screen.getvalue()
    assert screen.getvalue().startswith("[1/1] packages (")


NOBODY = 65534
USER = NOBODY if os.geteuid() == 0 else None
SYSTEM = {"PATH": "/usr/bin:/bin", "LANG": "C"}


@pytest.fixture
def foreign_clone() -> Iterator[Path]:
    """The scripts in a directory that their user may read, and not write."""
    probe = "import sys; sys.exit(sys.version_info < (3, 11))"
    command = ["python3", "-c", probe]
    if subprocess.run(command, user=USER, env=SYSTEM, check=False).returncode:
        pytest.skip("needs a python3 of 3.11 or newer in /usr/bin")
    # Not in tmp_path, which nobody else can enter.
    root = Path(tempfile.mkdtemp())
    shutil.copytree(ROOT / "bin", root / "bin", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "requirements", root / "requirements")
    for name in ("setup.py", "pyproject.toml"):
        shutil.copy(ROOT / name, root)
    root.chmod(0o555)
    yield root
    root.chmod(0o755)
    shutil.rmtree(root)


def test_a_clone_that_may_not_be_written_says_what_to_do(foreign_clone: Path) -> None:
    command = [str(foreign_clone / "bin" / "moldau"), "--help"]
    run = subprocess.run(
        command, user=USER, env=SYSTEM, cwd="/", capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stdout) == (1, "")
    (line,) = run.stderr.splitlines()
    assert line.startswith(f"moldau: {foreign_clone}/.venv-lock cannot be written: Permission")
    assert "Copy the clone to a directory of yours" in line


def test_another_failure_of_the_system_is_one_line_too(clone: Path) -> None:
    shutil.copytree(ROOT / "bin", clone / "bin", ignore=shutil.ignore_patterns("__pycache__"))
    (clone / ".venv-lock").mkdir()
    command = [sys.executable, str(clone / "bin" / "environment"), "base"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stderr == f"moldau: {clone}/.venv-lock: Is a directory\n"
