"""Serdes are plain declarations."""

import pickle
from datetime import timedelta

import pyarrow as pa
from google.protobuf.timestamp_pb2 import Timestamp

from moldau.client.arrow.formats import ValueFormat
from moldau.client.registry import Registry, schema_id_of
from moldau.streams import serdes
from unit.client.registry_server import registry_server


def test_serdes_of_the_same_schema_are_equal() -> None:
    assert serdes.json("n bigint") == serdes.json("n bigint")
    assert serdes.json("n bigint") != serdes.json("n int")
    assert serdes.LONG != serdes.INTEGER


def test_avro_has_the_type_of_its_schema() -> None:
    fields = [{"name": "n", "type": "long"}]
    serde = serdes.avro({"type": "record", "name": "Row", "fields": fields})
    assert str(serde.format.type) == "struct<n: int64>"
    assert serdes.in_format(serde.format).format is serde.format


def test_protobuf_has_the_type_of_its_message() -> None:
    names = [field.name for field in serdes.protobuf(Timestamp).format.type]
    assert names == ["seconds", "nanos"]


def test_with_a_registry_values_name_their_schema_wherever_they_are_written() -> None:
    fields = [{"name": "n", "type": "long"}]
    schema: dict[str, object] = {"type": "record", "name": "Row", "fields": fields}
    with registry_server() as server:
        registry = Registry(server.url)
        serde = serdes.avro(schema, registry=registry, subject="rows-value")
        # As Spark sends it to its workers.
        form: ValueFormat = pickle.loads(pickle.dumps(serde.format))
        written = form.encode(pa.array([{"n": 7}], form.type))
        assert schema_id_of(written[0].as_py()) == 1
        assert serdes.avro(schema, registry=registry).format.decode(written).to_pylist() == [
            {"n": 7}
        ]
        times = serdes.protobuf(Timestamp, registry=registry, subject="times-value").format
        told = times.encode(pa.array([{"seconds": 1, "nanos": 2}], times.type))
        assert schema_id_of(told[0].as_py()) == 2


def test_keys_in_windows_have_the_serde_of_the_key() -> None:
    windowed = serdes.time_windowed(serdes.STRING, timedelta(seconds=2))
    assert windowed == serdes.WindowedSerde(serdes.STRING, size_ms=2000)
    assert serdes.session_windowed(serdes.LONG).is_session
