"""Every converter has what the port asks for."""

import pytest

from moldau.connect.converters.lookup import CONVERTERS, HEADER_CONVERTERS
from moldau.connect.data.record import NULL


@pytest.mark.parametrize("name", sorted({*CONVERTERS, *HEADER_CONVERTERS}))
def test_null_is_a_tombstone_for_all(name: str) -> None:
    make = {**CONVERTERS, **HEADER_CONVERTERS}[name]
    converter = make({"schema.registry.url": "http://localhost:1"}, False)
    assert converter.to_bytes("t", NULL) is None
    assert converter.from_bytes("t", None).value is None
