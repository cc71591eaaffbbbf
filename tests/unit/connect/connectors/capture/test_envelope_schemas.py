"""The schemas of envelopes; that they are Debezium's is shown by its golden records."""

from moldau.connect.connectors.capture.envelope_schemas import envelope_schema
from moldau.connect.data.schema import INT32, STRING, struct


def test_a_topics_envelope_has_its_rows_twice() -> None:
    row = struct([("id", INT32)], name="t.Value", optional=True)
    source = struct([("version", STRING)], name="db.Source")
    found = envelope_schema("t", row, source)
    assert (found.name, found.version) == ("t.Envelope", 2)
    assert [each.name for each in found.fields] == [
        *("before", "after", "source", "transaction", "op", "ts_ms", "ts_us", "ts_ns")
    ]
    assert found.fields[0].schema is found.fields[1].schema is row
    assert found.fields[2].schema is source
