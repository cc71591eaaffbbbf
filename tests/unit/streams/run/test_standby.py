"""The second instance of an application waits for the first."""

import os
import threading
from pathlib import Path

from moldau.streams.run.standby import only_instance, owner_of


def test_the_second_waits_and_takes_over(tmp_path: Path) -> None:
    checkpoint, stop = str(tmp_path / "checkpoint"), threading.Event()
    told: list[str] = []
    has_waited, is_running = threading.Event(), threading.Event()

    def tell(line: str) -> None:
        told.append(line)
        has_waited.set()

    def second() -> None:
        with only_instance(checkpoint, stop, tell) as is_ours:
            assert is_ours
            is_running.set()

    with only_instance(checkpoint, stop, tell) as is_ours:
        assert is_ours
        assert owner_of(checkpoint) is not None
        thread = threading.Thread(target=second)
        thread.start()
        assert has_waited.wait(10)
        assert not is_running.is_set()
    thread.join(10)
    assert is_running.is_set()
    assert f"stands by: process {os.getpid()} on " in told[0]
    assert told[1:] == ["takes over"]
    assert owner_of(checkpoint) is None


def test_whoever_is_stopped_while_waiting_does_not_run(tmp_path: Path) -> None:
    stop = threading.Event()
    with only_instance(str(tmp_path), stop, print) as is_ours:
        assert is_ours
        with only_instance(str(tmp_path), stop, lambda _: stop.set()) as is_second:
            assert not is_second


def test_a_checkpoint_elsewhere_has_no_lock(tmp_path: Path) -> None:
    with only_instance("s3a://bucket/app", threading.Event(), print) as is_ours:
        assert is_ours
    assert owner_of("s3a://bucket/app") is None
    assert owner_of(str(tmp_path)) is None
