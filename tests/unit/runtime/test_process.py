"""What this process takes from the operating system."""

import pytest

from moldau.runtime import process


def test_memory_is_counted_in_bytes() -> None:
    before = process.resident_bytes()
    held = bytearray(b"x") * 50_000_000
    assert process.resident_bytes() - before > 40_000_000
    del held


def test_without_proc_the_peak_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    now = process.resident_bytes()
    monkeypatch.setattr(process, "_STATM", "/nonexistent")
    assert process.resident_bytes() >= now * 0.9


def test_processor_time_only_grows() -> None:
    before = process.cpu_seconds()
    sum(range(1_000_000))
    assert process.cpu_seconds() > before
