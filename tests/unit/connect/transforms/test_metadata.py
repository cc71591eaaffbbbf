"""SetSchemaMetadata does what Java's does."""

import pytest

from moldau.connect.data.record import Datum
from moldau.connect.data.schema import INT32
from moldau.connect.errors import DataError
from unit.connect.transforms.chained import changed

SET = "SetSchemaMetadata$Value"


def test_a_schema_is_named() -> None:
    found = changed(SET, 1, INT32, schema_name="n", schema_version="3")
    assert found == Datum(1, INT32.but(name="n", version=3))


def test_a_tombstone_passes_and_plain_data_fail() -> None:
    assert changed(SET, None, schema_name="n") == Datum()
    with pytest.raises(DataError, match="Schema required"):
        changed(SET, 1, schema_name="n")
