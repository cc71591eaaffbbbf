"""Types that a format does not have."""

import pyarrow as pa

from moldau.connect.connectors.lakes.columns import with_types


def test_columns_change_their_type_and_lose_what_only_connect_reads() -> None:
    field = pa.field("a", pa.int8(), metadata={"connect.schema": "{}"})
    rows = pa.table([pa.array([1], pa.int8())], schema=pa.schema([field]))
    found = with_types(rows, {pa.int8(): pa.int32()})
    assert found.schema == pa.schema([pa.field("a", pa.int32())])
    assert found.schema.field("a").metadata is None
