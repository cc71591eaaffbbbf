"""What modules of unit tests leave behind is seen."""

import gc
import threading
from pathlib import Path

from unit.conftest import Held


def test_threads_descriptors_and_thresholds_that_are_left_are_named(tmp_path: Path) -> None:
    before = Held.now()
    assert Held.now().since(before) == []
    ending = threading.Event()
    thread = threading.Thread(target=ending.wait, name="left")
    thread.start()
    thresholds = gc.get_threshold()
    gc.set_threshold(12_345, 6, 7)
    with (tmp_path / "file").open("w") as file:
        left = Held.now().since(before)
        opened = f"descriptor {file.fileno()} {tmp_path / 'file'}"
    gc.set_threshold(*thresholds)
    ending.set()
    thread.join()
    assert left == ["thread left", opened, "thresholds (12345, 6, 7) of the collector"]
    assert Held.now().since(before) == []
