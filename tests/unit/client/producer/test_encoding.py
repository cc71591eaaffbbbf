"""Records to batches, which the plain reader must read back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.client.producer.encoding import seal
from moldau.client.record import Headers
from moldau.records.batch import BatchHeader, Producer, crc_is_valid, read_records
from moldau.records.building import BatchForm, build
from moldau.records.compression import Codec
from moldau.records.kernel_build import RecordBuffer

LIMIT = 1 << 20
Item = tuple[int, bytes | None, bytes | None, Headers]

binary = st.none() | st.binary(max_size=20)
headers = st.lists(st.tuples(st.text(max_size=5), binary), max_size=3).map(tuple)
items_of = st.lists(
    st.tuples(st.integers(0, 2**60), binary, binary, headers), min_size=1, max_size=20
)


def collected(items: list[Item]) -> RecordBuffer:
    buffer: RecordBuffer = build.RecordBuffer(LIMIT)
    for item in items:
        assert buffer.append(*item, LIMIT) > 0
    return buffer


@given(items_of, st.sampled_from(Codec))
def test_what_is_sealed_is_read_back(items: list[Item], codec: Codec) -> None:
    data = seal(collected(items), BatchForm(LIMIT, attributes=int(codec)))
    read = [
        (each.timestamp, each.key, each.value, tuple((k.decode(), v) for k, v in each.headers))
        for each in read_records(data, limit_bytes=LIMIT)
    ]
    assert read == items
    assert BatchHeader.read(data).max_timestamp == max(item[0] for item in items)


@pytest.mark.parametrize("codec", Codec)
def test_every_codec_is_used(codec: Codec) -> None:
    buffer = collected([(1, None, b"the same again; " * 50, ())] * 20)
    data = seal(buffer, BatchForm(LIMIT, attributes=int(codec)))
    assert BatchHeader.read(data).codec is codec
    assert len(list(read_records(data, limit_bytes=LIMIT))) == 20


def test_a_higher_level_makes_batches_smaller() -> None:
    buffer = collected([(row, None, b"%d the same again" % row, ()) for row in range(500)])
    sizes = [
        len(seal(buffer, BatchForm(LIMIT, attributes=int(Codec.GZIP), level=level)))
        for level in (1, 9)
    ]
    assert sizes[1] < sizes[0]


def test_a_batch_carries_its_producer_and_may_be_sealed_again() -> None:
    buffer = collected([(1, b"k", b"v", ())])
    for producer in (Producer(7, 2, 40), Producer(7, 3, 0)):
        data = seal(buffer, BatchForm(LIMIT, producer=producer))
        header = BatchHeader.read(data)
        found = (header.producer_id, header.producer_epoch, header.base_sequence)
        assert found == producer
        assert crc_is_valid(data, 0, header.size)
