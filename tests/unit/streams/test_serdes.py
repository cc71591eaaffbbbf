"""Serdes are plain declarations."""

from moldau.streams import serdes


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
    from google.protobuf.timestamp_pb2 import Timestamp

    names = [field.name for field in serdes.protobuf(Timestamp).format.type]
    assert names == ["seconds", "nanos"]
