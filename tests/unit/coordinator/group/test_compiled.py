"""What is compiled runs, unless the sources are asked for."""

import subprocess
import sys

import pytest

NAMES = "from moldau.coordinator.group.compiled import *; print(Offsets.__module__)"


@pytest.mark.parametrize(("pure", "module"), [("0", "_offsets"), ("1", "offsets")])
def test_the_form_is_chosen_by_a_variable(pure: str, module: str) -> None:
    pytest.importorskip("moldau.coordinator.group._offsets")
    command = [sys.executable, "-c", NAMES]
    environment = {"MOLDAU_PURE": pure, "PYTHONPATH": ":".join(sys.path)}
    found = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert found.stdout.strip() == f"moldau.coordinator.group.{module}"
