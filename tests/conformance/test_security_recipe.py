"""The recipe for one secure broker, run as docs/security.md has it."""

import os
import re
import subprocess
import sys
from pathlib import Path

from conformance.apache.broker import free_port

PAGE = Path(__file__).parents[2] / "docs" / "security.md"
SCRIPT = """
set -eu
trap 'kill $broker; wait' EXIT
{recipe}
"""


def recipe() -> str:
    section = PAGE.read_text().partition("\n## One secure broker\n")[2]
    return section.partition("```sh\n")[2].partition("```")[0]


def test_the_broker_of_the_recipe_has_ten_lines() -> None:
    assert len(recipe().split("END")[1].strip("'\n").splitlines()) == 10


def test_the_recipe_runs_as_it_stands(tmp_path: Path) -> None:
    command = tmp_path / "bin" / "moldau"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m moldau "$@"\n')
    command.chmod(0o755)
    port = str(free_port())
    lines = recipe().replace("9093", port).replace(".properties &", ".properties & broker=$!")
    done = subprocess.run(
        ["/bin/sh", "-c", SCRIPT.format(recipe=lines)],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{command.parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Created topic orders." in done.stdout
    assert "Added user alice." in done.stdout
    assert "lets this client in by SCRAM-SHA-512" in done.stdout
    assert "FAIL" not in done.stdout
    assert not re.search("WARN|ERROR|Traceback", done.stderr), done.stderr
    assert "admin-secret" not in done.stdout + done.stderr
