"""What this process takes from the operating system."""

import mmap
import os
import resource
from types import SimpleNamespace

import pytest

from moldau.runtime import process


def test_memory_is_counted_in_bytes() -> None:
    before = process.resident_bytes()
    # Pages of its own: other tests may have left as much free memory to this process.
    with mmap.mmap(-1, 50_000_000) as held:
        held.write(bytes(50_000_000))
        assert process.resident_bytes() - before > 40_000_000


def test_without_proc_the_peak_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    now = process.resident_bytes()
    monkeypatch.setattr(process, "_STATM", "/nonexistent")
    assert process.resident_bytes() >= now * 0.9


def test_open_files_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert process.open_file_count() == len(os.listdir(process._DESCRIPTORS)) - 1
    told = process.open_file_count()
    # As older systems tell it: the directory itself has no size.
    monkeypatch.setattr(os, "stat", lambda _: SimpleNamespace(st_size=0))
    assert process.open_file_count() == told


def test_the_limit_of_open_files_is_that_of_the_process() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft - 1, hard))
        assert process.open_files_max() == soft - 1
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_processor_time_only_grows() -> None:
    before = process.cpu_seconds()
    sum(range(1_000_000))
    assert process.cpu_seconds() > before
