"""Records find the open batch of their partition, in Python and compiled."""

import threading
from importlib import import_module
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.client.partitioner import partition_of_key
from moldau.client.producer import intake
from moldau.records import kernel_build
from moldau.records.rows import Rows

FORMS: dict[str, tuple[ModuleType, ModuleType]] = {"source": (intake, kernel_build)}
try:
    _intake = import_module("moldau.client.producer._intake")
    _kernel_build = import_module("moldau.records._kernel_build")

    FORMS["compiled"] = (_intake, _kernel_build)
except ImportError:  # pragma: no cover - the extension is optional
    pass

in_both_forms = pytest.mark.parametrize("form", FORMS)
NOW_MS = 1234


class Table:
    """An intake with open buffers for all partitions of one topic."""

    def __init__(self, form: str, *, size_max: int = 1000, batch_size: int = 1000) -> None:
        kernel, build = FORMS[form]
        self.lock = threading.Lock()
        self.intake = kernel.Intake(
            size_max, lambda: NOW_MS * 1_000_000 + 999_999, self.lock.acquire, self.lock.release
        )
        self.open = kernel.OpenBuffers(4)
        for partition in range(4):
            self.open.buffers[partition] = build.RecordBuffer(batch_size, f"batch {partition}")
        self.intake.topics["t"] = self.open

    def rows(self, partition: int) -> list[tuple[int, bytes | None, bytes | None]]:
        from moldau.client.producer.encoding import seal
        from moldau.records.building import BatchForm

        buffer = self.open.buffers[partition]
        rows = Rows(seal(buffer, BatchForm(1000)))
        return [(row.timestamp, row.key, row.value) for row in rows]


@in_both_forms
def test_a_record_goes_to_the_partition_it_names(form: str) -> None:
    table = Table(form)
    receipt = table.intake.append("t", b"v", b"k", 2, 5, ())
    assert (receipt.batch, receipt.row, receipt.timestamp) == ("batch 2", 0, 5)
    assert table.intake.append("t", b"w", None, 2, None, [("h", b"1")]).row == 1
    assert table.rows(2) == [(5, b"k", b"v"), (NOW_MS, None, b"w")]
    assert not table.lock.locked()


@pytest.mark.parametrize("form", FORMS)
@given(key=st.binary(max_size=40))
def test_a_key_goes_where_java_puts_it(form: str, key: bytes) -> None:
    receipt = Table(form).intake.append("t", b"v", key, None, 5, ())
    assert receipt.batch == f"batch {partition_of_key(key, range(4))}"


@in_both_forms
def test_without_a_key_all_go_to_the_same_partition(form: str) -> None:
    table = Table(form)
    assert table.intake.append("t", b"v", None, None, 5, ()) is None
    table.open.sticky_partition = 3
    assert table.intake.append("t", b"v", None, None, 5, ()).batch == "batch 3"


@in_both_forms
def test_what_finds_no_open_batch_is_not_taken(form: str) -> None:
    table = Table(form)
    table.open.buffers[1] = None
    assert table.intake.append("other", b"v", None, 0, 5, ()) is None
    assert table.intake.append("t", b"v", None, 1, 5, ()) is None
    assert table.intake.append("t", b"v", None, 4, 5, ()) is None
    assert table.intake.append("t", b"v", None, -2, 5, ()) is None
    assert table.intake.used_bytes == 0


@in_both_forms
def test_what_does_not_fit_into_its_batch_is_not_taken(form: str) -> None:
    table = Table(form, batch_size=200)
    assert table.intake.append("t", b"v" * 100, None, 0, 5, ()) is not None
    assert table.intake.append("t", b"v" * 100, None, 0, 5, ()) is None
    assert len(table.rows(0)) == 1


@in_both_forms
def test_memory_is_counted_and_bounded(form: str) -> None:
    table = Table(form, size_max=250)
    table.intake.append("t", b"v" * 100, None, 0, 5, ())
    assert table.intake.used_bytes == table.open.buffers[0].size - 61
    table.intake.append("t", b"v" * 100, None, 1, 5, ())
    assert table.intake.append("t", b"v" * 100, None, 2, 5, ()) is None
    assert table.intake.used_bytes <= 250


@in_both_forms
def test_text_is_taken_and_other_things_are_refused(form: str) -> None:
    table = Table(form)
    table.intake.append("t", "v", bytearray(b"k"), 0, 5, ())
    assert table.rows(0) == [(5, b"k", b"v")]
    with pytest.raises(TypeError, match="not dict: pass a serializer"):
        table.intake.append("t", {}, None, 0, 5, ())
    with pytest.raises(TypeError):
        table.intake.append("t", b"v", None, 0, "now", ())
    assert not table.lock.locked()
