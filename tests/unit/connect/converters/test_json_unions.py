"""One of several, within lists and maps too."""

import pytest

from moldau.connect.converters.json_schema_documents import ONE_OF
from moldau.connect.converters.json_unions import has_union, read_unions, write_unions
from moldau.connect.data.logical import to_stored
from moldau.connect.data.schema import BYTES, INT64, STRING, array, map_of, struct
from moldau.connect.errors import DataError

UNION = struct([("0", INT64), ("1", struct([("a", BYTES)]))], name=ONE_OF)
WITHIN = struct([("list", array(UNION)), ("map", map_of(STRING, UNION))])


def test_the_member_that_fits_is_set_and_written() -> None:
    assert has_union(WITHIN)
    assert not has_union(struct([("a", array(INT64))]))
    stored = {"list": [1, {"a": "AA=="}], "map": {"x": 2, "y": None}}
    found = read_unions(WITHIN, stored)
    assert found == {
        "list": [{"0": 1, "1": None}, {"0": None, "1": {"a": b"\0"}}],
        "map": {"x": {"0": 2, "1": None}, "y": None},
    }
    assert write_unions(WITHIN, found, to_stored) == stored


def test_what_fits_none_is_refused() -> None:
    with pytest.raises(DataError, match="none of what its schema allows"):
        read_unions(UNION, {"b": 1})
