"""The choice between a compiled kernel and its source."""

import logging

import pytest

from moldau.runtime import native


@pytest.fixture(autouse=True)
def nothing_told_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "_warned", [])


def test_a_built_kernel_is_preferred(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MOLDAU_PURE", raising=False)
    assert native.kernel("json", "csv").__name__ == "json"


@pytest.mark.parametrize("wanted", ["1", "yes"])
def test_moldau_pure_chooses_the_source(monkeypatch: pytest.MonkeyPatch, wanted: str) -> None:
    monkeypatch.setenv("MOLDAU_PURE", wanted)
    assert native.kernel("json", "csv").__name__ == "csv"


@pytest.mark.parametrize("unset", ["", "0"])
def test_moldau_pure_empty_or_zero_means_no(monkeypatch: pytest.MonkeyPatch, unset: str) -> None:
    monkeypatch.setenv("MOLDAU_PURE", unset)
    assert native.kernel("json", "csv").__name__ == "json"


def test_kernels_that_were_not_built_are_missed_aloud_but_only_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("MOLDAU_PURE", raising=False)
    with caplog.at_level(logging.WARNING):
        assert native.kernel("moldau._not_built", "csv").__name__ == "csv"
        assert native.kernel("moldau._not_built_either", "json").__name__ == "json"
    [record] = caplog.records
    assert "moldau._not_built" in record.getMessage()
    assert "C compiler" in record.getMessage()


def test_the_wanted_pure_mode_is_silent(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MOLDAU_PURE", "1")
    native.kernel("moldau._not_built", "csv")
    assert not caplog.records


def test_a_source_that_cannot_be_imported_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MOLDAU_PURE", raising=False)
    with pytest.raises(ModuleNotFoundError):
        native.kernel("moldau._not_built", "moldau.not_written")
