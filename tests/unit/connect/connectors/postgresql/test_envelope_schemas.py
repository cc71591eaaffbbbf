"""The schemas of envelopes; that they are Debezium's is shown by its golden records."""

from moldau.connect.connectors.postgresql.envelope_schemas import envelope_schema
from moldau.connect.data.schema import INT32, struct


def test_a_topics_envelope_has_its_rows_twice() -> None:
    row = struct([("id", INT32)], name="t.Value", optional=True)
    found = envelope_schema("t", row)
    assert (found.name, found.version) == ("t.Envelope", 2)
    assert [each.name for each in found.fields] == [
        *("before", "after", "source", "transaction", "op", "ts_ms", "ts_us", "ts_ns")
    ]
    assert found.fields[0].schema is found.fields[1].schema is row
