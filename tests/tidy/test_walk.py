"""How many files a newcomer opens to follow a request."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
FILES_MAX = 20


@pytest.mark.parametrize("kind", ["produce", "fetch"])
def test_a_request_is_followed_through_few_files(kind: str) -> None:
    command = [sys.executable, "-m", "unit.broker.walk", kind]
    environment = os.environ | {"MOLDAU_PURE": "1"}
    walked = subprocess.run(
        command, cwd=TESTS, env=environment, capture_output=True, text=True, check=True
    )
    files = walked.stdout.split()
    assert f"broker/requests/{kind}.py" in files
    assert len(files) <= FILES_MAX, files
