"""Rows to batches, which the plain reader must read back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.client.encoding import Headers, Rows, encode_rows
from moldau.records.batch import BatchHeader, Producer, crc_is_valid, read_records
from moldau.records.compression import Codec

LIMIT = 1 << 20
Row = tuple[int, bytes | None, bytes | None, Headers]

binary = st.none() | st.binary(max_size=20)
headers = st.lists(st.tuples(st.text(max_size=5), binary), max_size=3).map(tuple)
rows_of = st.lists(
    st.tuples(st.integers(0, 2**60), binary, binary, headers), min_size=1, max_size=20
)


def collected(items: list[Row]) -> Rows:
    rows = Rows()
    for timestamp, key, value, each_headers in items:
        if each_headers:
            rows.headers[len(rows)] = each_headers
        rows.timestamps.append(timestamp)
        rows.keys.append(key)
        rows.values.append(value)
    return rows


@given(rows_of)
def test_what_is_encoded_is_read_back(items: list[Row]) -> None:
    data = encode_rows(collected(items), Codec.NONE)
    read = [
        (each.timestamp, each.key, each.value, tuple((k.decode(), v) for k, v in each.headers))
        for each in read_records(data, limit_bytes=LIMIT)
    ]
    assert read == items


@pytest.mark.parametrize("codec", Codec)
def test_every_codec_is_used(codec: Codec) -> None:
    rows = collected([(1, None, b"the same again; " * 50, ())] * 20)
    data = encode_rows(rows, codec)
    assert BatchHeader.read(data).codec is codec
    assert len(list(read_records(data, limit_bytes=LIMIT))) == 20


def test_a_batch_carries_its_producer() -> None:
    data = encode_rows(collected([(1, b"k", b"v", ())]), Codec.NONE, Producer(7, 2, 40))
    header = BatchHeader.read(data)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (7, 2, 40)
    assert crc_is_valid(data, 0, header.size)
