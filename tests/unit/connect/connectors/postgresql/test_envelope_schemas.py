"""PostgreSQL's own schemas; that they are Debezium's is shown by its golden records."""

from moldau.connect.connectors.postgresql.envelope_schemas import MESSAGE_VALUE, SOURCE


def test_messages_tell_their_source_as_rows_do() -> None:
    assert SOURCE.name == "io.debezium.connector.postgresql.Source"
    assert [each.name for each in SOURCE.fields][-4:] == ["lsn", "xmin", "origin", "origin_lsn"]
    assert next(each.schema for each in MESSAGE_VALUE.fields if each.name == "source") is SOURCE
