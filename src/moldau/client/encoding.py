"""Rows of a batch to the bytes of a batch."""

from array import array
from collections.abc import Sequence
from itertools import accumulate, chain

from moldau.records.batch import NO_PRODUCER, Producer
from moldau.records.building import BatchForm, NewRecords, encode_columns
from moldau.records.columns import BinaryColumn, HeadersColumn
from moldau.records.compression import Codec

Headers = Sequence[tuple[str, bytes | None]]
_SIZE_MAX = 2**31 - 1


class Rows:
    """Records of one partition as they are collected, a list for each part of them."""

    __slots__ = ("headers", "keys", "timestamps", "values")

    def __init__(self) -> None:
        self.timestamps: list[int] = []
        self.keys: list[bytes | None] = []
        self.values: list[bytes | None] = []
        self.headers: dict[int, Headers] = {}
        """By row: most records have none."""

    def __len__(self) -> int:
        return len(self.timestamps)


def encode_rows(rows: Rows, codec: Codec, producer: Producer = NO_PRODUCER) -> memoryview:
    """One batch of all the rows."""
    records = NewRecords(
        timestamps=memoryview(array("q", rows.timestamps)),
        values=_column(rows.values),
        keys=_column(rows.keys),
        headers=_headers(rows) if rows.headers else None,
    )
    form = BatchForm(_SIZE_MAX, attributes=int(codec), producer=producer)
    batches = encode_columns(records, form)
    assert len(batches.ends) == 1, "the rows are one batch"
    return batches.data


def _column(items: Sequence[bytes | None]) -> BinaryColumn | None:
    present = [item for item in items if item is not None]
    if not present:
        return None
    offsets = array("i", [0])
    validity: memoryview | None = None
    if len(present) == len(items):
        offsets.extend(accumulate(map(len, present)))
    else:
        offsets.extend(accumulate(len(item) if item is not None else 0 for item in items))
        bits = sum(1 << row for row, item in enumerate(items) if item is not None)
        validity = memoryview(bits.to_bytes((len(items) + 7) // 8, "little"))
    data = memoryview(b"".join(present))
    return BinaryColumn(memoryview(offsets), data, validity, null_count=len(items) - len(present))


def _headers(rows: Rows) -> HeadersColumn:
    lists = [rows.headers.get(row, ()) for row in range(len(rows))]
    every = list(chain.from_iterable(lists))
    keys = _column([key.encode() for key, _ in every])
    values = _column([value for _, value in every])
    if values is None:  # all null
        zeros = memoryview(array("i", bytes(4 * (len(every) + 1))))
        no_bits = memoryview(bytes((len(every) + 7) // 8))
        values = BinaryColumn(zeros, memoryview(b""), no_bits, null_count=len(every))
    assert keys is not None, "some row has a header"
    offsets = array("i", [0, *accumulate(map(len, lists))])
    return HeadersColumn(memoryview(offsets), keys, values)
