"""The rule about sleeps finds them by every name, and knows simulated time."""

from pathlib import Path

import pytest

from tidy.plant import places, plant
from tidy.sleeps import no_sleeps

TEST = "tests/unit/log/test_log.py"


@pytest.mark.parametrize(
    "text",
    [
        "import time\ntime.sleep(0.01)",
        "import asyncio\nasync def test_a():\n    await asyncio.sleep(1)",
        "import asyncio\nPAUSE_S = 0.1\nasync def test_a():\n    await asyncio.sleep(PAUSE_S)",
        "from time import sleep\nsleep(1)",
        "import time as clock\nclock.sleep(1)",
        "from asyncio import sleep as pause\nasync def test_a():\n    await pause(delay=1)",
    ],
)
def test_a_sleep_is_found(tmp_path: Path, text: str) -> None:
    assert places(no_sleeps, plant(tmp_path, {TEST: text})) == [TEST]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (TEST, "import asyncio\nasync def test_a():\n    await asyncio.sleep(0)"),
        (TEST, "def test_a(clock):\n    clock.sleep(1)"),
        ("src/moldau/log/pace.py", "import time\ntime.sleep(1)"),
        ("tests/simulation/faults.py", "import asyncio\nasync def a(): await asyncio.sleep(20)"),
    ],
)
def test_what_takes_no_time_is_fine(tmp_path: Path, file: str, text: str) -> None:
    assert places(no_sleeps, plant(tmp_path, {file: text})) == []


def test_a_thread_sleeps_in_simulated_time_as_well(tmp_path: Path) -> None:
    file = "tests/simulation/faults.py"
    assert places(no_sleeps, plant(tmp_path, {file: "import time\ntime.sleep(1)"})) == [file]
