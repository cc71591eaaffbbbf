"""The schema of sources; that it is Debezium's is shown by its golden records."""

from moldau.connect.connectors.mariadb.envelope_schemas import source_schema


def test_each_connector_has_its_own_name() -> None:
    assert source_schema("mariadb").name == "io.debezium.connector.mariadb.Source"
    assert source_schema("mysql").fields == source_schema("mariadb").fields
