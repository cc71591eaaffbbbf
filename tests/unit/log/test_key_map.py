"""The map of compaction, in Python and compiled."""

from importlib import import_module
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.errors import ProtocolError
from moldau.log import key_map
from moldau.log.key_map import FULL, MORE, SPECIAL, KeyMap
from moldau.records.batch import TRANSACTIONAL, write_batch
from moldau.records.compression import Codec
from moldau.records.record import Record

FORMS: dict[str, ModuleType] = {"source": key_map}
try:
    _key_map = import_module("moldau.log._key_map")

    FORMS["compiled"] = _key_map
except ImportError:  # pragma: no cover - the extension is optional
    pass

in_both_forms = pytest.mark.parametrize("form", FORMS)

SEED = bytes(range(16))

# From the reference implementation: key 00..0f, input 00, 01, ... of that length.
REFERENCE = {
    0: "a3817f04ba25a8e66df67214c7550293",
    1: "da87c1d86b99af44347659119b22fc45",
    8: "3b62a9ba6258f5610f83e264f31497b4",
    15: "5493e99933b0a8117e08ec0f97cfc3d9",
    63: "5150d1772f50834a503e069a973fbd7c",
}


def new_map(form: str, slots: int = 100, *, start_offset: int = 0) -> KeyMap:
    table = memoryview(bytearray(24 * slots)).cast("Q")
    made: KeyMap = FORMS[form].KeyMap(table, SEED, slots * 9 // 10, start_offset)
    return made


def batch(offset: int, *keys: bytes | None, attributes: int = 0) -> bytes:
    records = [Record(offset + n, 1000, key, b"v") for n, key in enumerate(keys)]
    return bytes(write_batch(records, base_offset=offset, attributes=attributes))


@in_both_forms
@pytest.mark.parametrize("size", REFERENCE)
def test_the_hash_is_siphash_with_128_bits(form: str, size: int) -> None:
    low, high = new_map(form).hash_of(memoryview(bytes(range(size))))

    assert low.to_bytes(8, "little") + high.to_bytes(8, "little") == bytes.fromhex(REFERENCE[size])


@in_both_forms
def test_another_seed_gives_another_hash(form: str) -> None:
    table = memoryview(bytearray(240)).cast("Q")

    other = FORMS[form].KeyMap(table, bytes(16), 5, 0)

    assert other.hash_of(memoryview(b"key")) != new_map(form).hash_of(memoryview(b"key"))


@in_both_forms
@given(keys=st.lists(st.binary(max_size=12), max_size=80))
def test_it_maps_as_a_dictionary_does(form: str, keys: list[bytes]) -> None:
    mapped, model = new_map(form), {}
    for offset, key in enumerate(keys):
        mapped.put_key(memoryview(key), offset)
        model[key] = offset

    assert mapped.count == len(model)
    assert {key: mapped.offset_of(memoryview(key)) for key in model} == model
    assert mapped.offset_of(memoryview(b"a key that is not there")) == -1


@in_both_forms
def test_a_table_that_is_nearly_full_is_searched_around_its_end(form: str) -> None:
    mapped = new_map(form, slots=20)
    for offset in range(18):
        mapped.put_key(memoryview(b"%d" % offset), offset)

    assert [mapped.offset_of(memoryview(b"%d" % offset)) for offset in range(19)] == [
        *range(18),
        -1,
    ]


@in_both_forms
def test_a_run_of_plain_batches_is_mapped_in_one_go(form: str) -> None:
    mapped = new_map(form)
    chunk = batch(0, b"a", b"b") + batch(5, b"a") + batch(9, None, b"c")

    assert mapped.map_batches(memoryview(chunk), 0) == (len(chunk), MORE)
    assert [mapped.offset_of(memoryview(key)) for key in (b"a", b"b", b"c")] == [5, 1, 10]
    assert mapped.latest_offset == 10
    assert mapped.count == 3


@in_both_forms
def test_a_batch_that_is_not_whole_is_left_for_the_next_chunk(form: str) -> None:
    first, second = batch(0, b"a"), batch(1, b"b")
    for cut in range(len(second)):
        mapped = new_map(form)
        chunk = memoryview(first + second[:cut])
        assert mapped.map_batches(chunk, 0) == (len(first), MORE)
        assert mapped.latest_offset == 0


@in_both_forms
@pytest.mark.parametrize("attributes", [Codec.LZ4, TRANSACTIONAL])
def test_a_run_stops_before_what_is_not_plain(form: str, attributes: int) -> None:
    mapped = new_map(form)
    first = batch(0, b"a")

    found = mapped.map_batches(memoryview(first + batch(1, b"b", attributes=attributes)), 0)

    assert found == (len(first), SPECIAL)
    assert mapped.offset_of(memoryview(b"b")) == -1


@in_both_forms
def test_records_before_the_start_are_not_mapped(form: str) -> None:
    mapped = new_map(form, start_offset=3)

    mapped.map_batches(memoryview(batch(0, b"a") + batch(2, b"b", b"c")), 0)

    assert [mapped.offset_of(memoryview(key)) for key in (b"a", b"b", b"c")] == [-1, -1, 3]


@in_both_forms
def test_a_full_map_stops_at_the_batch_that_did_not_fit(form: str) -> None:
    mapped = new_map(form, slots=5)
    first, second = batch(0, b"a", b"b", b"a"), batch(3, b"c", b"d", b"e")

    assert mapped.map_batches(memoryview(first + second), 0) == (len(first), FULL)
    assert mapped.latest_offset == 2


@in_both_forms
def test_records_of_a_decompressed_batch_are_mapped(form: str) -> None:
    mapped = new_map(form)
    whole = batch(7, b"a", b"b")

    assert mapped.map_records(memoryview(whole), memoryview(whole)[61:])
    assert mapped.offset_of(memoryview(b"b")) == 8


@in_both_forms
def test_a_damaged_batch_is_refused(form: str) -> None:
    good = batch(0, b"key-one", b"key-two")
    for position in [*range(21, len(good))]:
        data = bytearray(good)
        data[position] ^= 1
        mapped = new_map(form)
        try:
            _, why = mapped.map_batches(memoryview(data), 0)
        except ProtocolError:
            continue
        # A flipped attribute may make it a batch that someone else has to check.
        assert why == SPECIAL


@in_both_forms
def test_what_is_not_a_batch_is_refused(form: str) -> None:
    good = batch(0, b"a")
    old_magic = good[:16] + b"\1" + good[17:]
    too_short = good[:8] + (48).to_bytes(4, "big") + good[12:]

    for data in (old_magic, too_short):
        with pytest.raises(ProtocolError):
            new_map(form).map_batches(memoryview(data), 0)


@in_both_forms
@given(section=st.binary(max_size=60), count=st.integers(0, 5))
def test_no_bytes_make_it_read_out_of_bounds(form: str, section: bytes, count: int) -> None:
    header = bytearray(batch(0, b"a"))
    header[57:61] = count.to_bytes(4, "big")
    outcomes: list[object] = []
    for name in FORMS:
        try:
            outcomes.append(new_map(name).map_records(memoryview(header), memoryview(section)))
        except ProtocolError:
            outcomes.append("refused")

    assert len(set(outcomes)) == 1
