"""The quick check before every command: silent when nothing has changed, sharp when something has.

The slow path is replaced by a stub that only notes that it was called.
"""

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAKER = """\
import os, sys
print("made", sys.argv[1], os.environ.get("MOLDAU_PURE", ""))
sys.exit(int(os.environ.get("MAKER_EXIT", "0")))
"""


class Clone:
    """A clone with a stub for the maker, and one for Python which says how it was called."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.stamps = root / ".venv" / "stamps"
        self.input = root / "requirements.lock"
        self.stamps.mkdir(parents=True)
        environment = root / "bin" / "environment"
        environment.mkdir(parents=True)
        shutil.copy(ROOT / "bin" / "python", root / "bin")
        shutil.copy(ROOT / "bin" / "environment" / "ensure.sh", environment)
        (environment / "__main__.py").write_text(MAKER, encoding="utf-8")
        python = root / ".venv" / "bin" / "python"
        python.parent.mkdir()
        python.write_text('#!/bin/sh\necho ran "$@"\n', encoding="utf-8")
        python.chmod(0o755)
        self.input.write_text("one==1\n", encoding="utf-8")
        self.stamp("base")

    def stamp(self, name: str) -> None:
        digest = hashlib.sha256(self.input.read_bytes()).hexdigest()
        (self.stamps / name).write_text(f"{digest}  {self.input}\n", encoding="utf-8")

    def run(
        self, *arguments: str, script: Path | None = None, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        command = [str(script or self.root / "bin" / "python"), *arguments]
        return subprocess.run(
            command, capture_output=True, text=True, check=False, env=clean(os.environ) | variables
        )

    def output(self, *arguments: str, script: Path | None = None, **variables: str) -> list[str]:
        return self.run(*arguments, script=script, **variables).stdout.splitlines()


def clean(environment: Mapping[str, str]) -> dict[str, str]:
    ours = ("MOLDAU_PURE", "MOLDAU_PYTHON", "CC")
    return {name: value for name, value in environment.items() if name not in ours}


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path / "a clone")  # a path with a space in it


def test_an_unchanged_environment_is_used_at_once(clone: Clone) -> None:
    assert clone.output("-c", "a b") == ["ran -c a b"]


def test_a_script_works_through_a_link_and_from_any_folder(clone: Clone, tmp_path: Path) -> None:
    link = tmp_path / "elsewhere"
    link.symlink_to(clone.root / "bin" / "python")
    assert clone.output(script=link) == ["ran"]


def test_a_changed_file_calls_the_maker_first(clone: Clone) -> None:
    clone.input.write_text("one==2\n", encoding="utf-8")
    assert clone.output() == ["made base ", "ran"]


def test_a_removed_file_calls_the_maker_first(clone: Clone) -> None:
    clone.input.unlink()
    assert clone.output() == ["made base ", "ran"]


@pytest.mark.parametrize("part", ["stamps/base", "bin/python"])
def test_a_half_made_environment_is_never_used(clone: Clone, part: str) -> None:
    (clone.root / ".venv" / part).unlink()
    assert clone.output()[0] == "made base "


def test_an_empty_stamp_is_no_stamp(clone: Clone) -> None:
    (clone.stamps / "base").write_text("", encoding="utf-8")
    assert clone.output() == ["made base ", "ran"]


def test_a_failing_set_up_ends_the_script_with_its_code(clone: Clone) -> None:
    (clone.stamps / "base").unlink()
    run = clone.run(MAKER_EXIT="7")
    assert (run.returncode, run.stdout) == (7, "made base \n")


def test_a_pure_run_asks_for_a_stamp_without_kernels(clone: Clone) -> None:
    assert clone.output(MOLDAU_PURE="1") == ["made base 1", "ran"]
    clone.stamp("base-pure")
    assert clone.output(MOLDAU_PURE="1") == ["ran"]
    assert clone.output(MOLDAU_PURE="0") == ["ran"]


def test_kernels_are_tried_again_with_another_compiler_only(clone: Clone) -> None:
    (clone.stamps / "uncompiled").write_text("/bin/false", encoding="utf-8")
    assert clone.output(CC="/bin/false") == ["ran"]
    assert clone.output(CC="/bin/true") == ["made base ", "ran"]


def test_without_a_python_the_user_is_told_what_to_install(clone: Clone, tmp_path: Path) -> None:
    (clone.stamps / "base").unlink()
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "readlink", "dirname", "sha256sum"):
        (tools / name).symlink_to(str(shutil.which(name)))
    run = clone.run(PATH=str(tools))
    assert run.returncode == 1
    assert "needs Python 3.11 or newer" in run.stderr
    assert "apt-get install -y python3 python3-venv" in run.stderr


# Stopping is done by the system's own tools: nothing need be installed for it.
WITHOUT_ENVIRONMENT = {"kafka-server-stop.sh", "zookeeper-server-stop.sh"}
MAKES_ENVIRONMENT = re.compile(
    r'^(\. "\$here/environment/ensure\.sh"$|exec "\$\{0%/\*\}/moldau" )', re.MULTILINE
)


def test_every_script_makes_its_environment_and_can_be_run() -> None:
    scripts = [path for path in (ROOT / "bin").iterdir() if path.is_file()]
    assert scripts
    for script in scripts:
        text = script.read_text(encoding="utf-8")
        assert text.startswith("#!/bin/sh\n"), script
        makes_environment = bool(MAKES_ENVIRONMENT.search(text))
        assert makes_environment != (script.name in WITHOUT_ENVIRONMENT), script
        assert os.access(script, os.X_OK), script
