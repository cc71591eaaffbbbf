"""CRC-32C: every implementation gives the same number for every buffer."""

import array
import mmap
import sys
import threading
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

import crc32c as wheel
from moldau.records import crc32c
from moldau.runtime import native

IMPLEMENTATIONS = {"python": crc32c.crc32c_python, "chosen": crc32c.crc32c}
try:
    _crc32c = import_module("moldau.records._crc32c")

    IMPLEMENTATIONS["native"] = _crc32c.crc32c
    IMPLEMENTATIONS["portable"] = _crc32c.crc32c_portable
except ImportError:  # pragma: no cover - the extension is optional
    pass

# The checksum of 64 MiB of zeros.
ZEROS_64_MIB = 0x32456B5D

every_implementation = pytest.mark.parametrize("name", IMPLEMENTATIONS)

# RFC 3720, appendix B.4, and the check value of the CRC catalogue.
VECTORS = {
    b"": 0,
    b"123456789": 0xE3069283,
    bytes(32): 0x8A9136AA,
    b"\xff" * 32: 0x62A8AB43,
    bytes(range(32)): 0x46DD794E,
    bytes(range(31, -1, -1)): 0x113FDB5C,
}

# The sizes at which the native code goes from one way of working to the next.
EDGES = [block + more for block in (8, 768, 12288, 32768) for more in (-9, -1, 0, 1, 7, 9)]


def content(size: int) -> bytes:
    return bytes((index * 131 + index // 251) & 0xFF for index in range(size))


@every_implementation
@pytest.mark.parametrize("data", VECTORS)
def test_published_vectors(name: str, data: bytes) -> None:
    assert IMPLEMENTATIONS[name](data) == VECTORS[data]


@every_implementation
@pytest.mark.parametrize("size", [size for size in EDGES if size >= 0])
def test_sizes_around_each_block_boundary(name: str, size: int) -> None:
    data = content(size)
    assert IMPLEMENTATIONS[name](data) == wheel.crc32c(data)


@every_implementation
@given(data=st.binary(max_size=3000), cut=st.integers(0, 3000), value=st.integers(0, 2**32 - 1))
def test_a_checksum_continues_over_parts(name: str, data: bytes, cut: int, value: int) -> None:
    checksum = IMPLEMENTATIONS[name]
    assert checksum(data[cut:], checksum(data[:cut], value)) == checksum(data, value)
    assert checksum(data, value) == wheel.crc32c(data, value)


@every_implementation
@pytest.mark.parametrize(
    "wrap",
    [bytes, bytearray, memoryview, lambda data: memoryview(bytearray(data)).toreadonly()],
    ids=["bytes", "bytearray", "memoryview", "readonly"],
)
def test_any_contiguous_buffer_at_any_alignment(name: str, wrap: type[memoryview]) -> None:
    data = content(5000)
    for start in range(9):
        view = memoryview(wrap(data))[start:-3]
        assert IMPLEMENTATIONS[name](view) == wheel.crc32c(data[start:-3])


@every_implementation
def test_buffers_of_other_items_count_as_their_bytes(name: str) -> None:
    words = array.array("q", range(100))
    assert IMPLEMENTATIONS[name](words) == wheel.crc32c(words.tobytes())


@every_implementation
def test_mapped_memory(name: str) -> None:
    with mmap.mmap(-1, 4096) as mapped:
        mapped.write(b"123456789")
        assert IMPLEMENTATIONS[name](mapped) == wheel.crc32c(b"123456789" + bytes(4087))


@every_implementation
def test_a_buffer_is_released_again(name: str) -> None:
    data = bytearray(b"123456789")
    IMPLEMENTATIONS[name](data)
    data.append(0)  # raises BufferError while anybody still holds the buffer


@every_implementation
def test_what_is_not_a_buffer_is_refused(name: str) -> None:
    for wrong in (("text",), (b"", "text"), ()):
        with pytest.raises(TypeError):
            IMPLEMENTATIONS[name](*wrong)


@pytest.mark.skipif("native" not in IMPLEMENTATIONS, reason="the extension is not built")
def test_large_buffers_let_other_threads_run() -> None:
    data = bytes(64 << 20)
    go, ran = threading.Event(), threading.Event()

    def run_once() -> None:
        go.wait(timeout=60)
        ran.set()

    other = threading.Thread(target=run_once)
    other.start()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(100)  # from now on a thread runs only when this one steps aside
    try:
        go.set()
        assert any(
            ran.is_set() for _ in range(100) if IMPLEMENTATIONS["native"](data) == ZEROS_64_MIB
        )
    finally:
        sys.setswitchinterval(interval)
        other.join()


def test_moldau_pure_leaves_out_our_extension(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOLDAU_PURE", "1")
    assert crc32c.choose() is wheel.crc32c


def test_without_extension_and_wheel_a_slow_checksum_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MOLDAU_PURE", "1")
    monkeypatch.setitem(sys.modules, "crc32c", None)
    monkeypatch.setattr(native, "_warned", [])
    assert crc32c.choose() is crc32c.crc32c_python
    assert "pip install crc32c" in caplog.text
