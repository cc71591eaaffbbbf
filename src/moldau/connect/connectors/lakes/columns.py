"""Columns as a format of tables has them."""

from collections.abc import Mapping

import pyarrow as pa

EVOLVE = "records have other columns than the table; auto.evolve=true adds columns"


def with_types(rows: pa.Table, types: Mapping[pa.DataType, pa.DataType]) -> pa.Table:
    """Columns of types that a format does not have, in those that stand for them."""
    fields = [each.with_type(types.get(each.type, each.type)) for each in rows.schema]
    return rows.cast(pa.schema([each.remove_metadata() for each in fields]))
