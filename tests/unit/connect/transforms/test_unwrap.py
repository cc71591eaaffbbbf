"""Debezium's unwrapping, in each of its modes."""

import pytest

from moldau.connect.data.record import Datum
from moldau.connect.data.schema import INT64, STRING, optional, struct
from moldau.connect.errors import ConfigError
from unit.connect.transforms.chained import chain, changed

UNWRAP = "io.debezium.transforms.ExtractNewRecordState"
ROW = struct([("id", INT64)], optional=True)
ENVELOPE = struct(
    [
        ("before", ROW),
        ("after", ROW),
        ("source", struct([("table", STRING), ("ts_ms", INT64)])),
        ("op", STRING),
    ],
    name="a.Envelope",
)
SOURCE = {"table": "t", "ts_ms": 9}
CREATED = {"before": None, "after": {"id": 1}, "source": SOURCE, "op": "c"}
DELETED = {"before": {"id": 1}, "after": None, "source": SOURCE, "op": "d"}


@pytest.mark.parametrize(
    ("mode", "deleted", "tombstone"),
    [
        ("tombstone", None, Datum()),
        ("drop", None, None),
        ("delete-to-tombstone", Datum(), None),
        ("rewrite", {"id": 1, "__deleted": "true"}, None),
        ("rewrite-with-tombstone", {"id": 1, "__deleted": "true"}, Datum()),
    ],
)
def test_deletes_and_tombstones_by_mode(mode: str, deleted: object, tombstone: object) -> None:
    settings = {"delete_tombstone_handling_mode": mode}
    found = changed(UNWRAP, DELETED, ENVELOPE, **settings)
    assert (found.value if isinstance(deleted, dict) and found else found) == deleted
    assert changed(UNWRAP, None, None, **settings) == tombstone


def test_a_row_takes_the_place_of_its_envelope_with_fields_added() -> None:
    found = changed(UNWRAP, CREATED, ENVELOPE, add_fields="op,table,source.ts_ms")
    assert found is not None
    assert found.value == {"id": 1, "__op": "c", "__table": "t", "__source_ts_ms": 9}
    assert found.schema is not None
    assert found.schema.fields[1].schema == optional(STRING)


def test_plain_envelopes_work_and_other_records_pass() -> None:
    assert changed(UNWRAP, CREATED) == Datum({"id": 1})
    assert changed(UNWRAP, {"x": 1}) == Datum({"x": 1})
    assert changed(UNWRAP, 5, INT64) == Datum(5, INT64)
    with pytest.raises(ConfigError, match="must be one of"):
        chain(UNWRAP, delete_tombstone_handling_mode="x")
