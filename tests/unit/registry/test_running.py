"""confluent-kafka's serializers work with it unchanged, and our own do."""

from collections.abc import Callable, Iterator

import pytest
from confluent_kafka.schema_registry import Schema, SchemaReference, SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.error import SchemaRegistryError
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import descriptor_pb2, timestamp_pb2
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from moldau.client.registry import Reference, Registry, RegistryError
from moldau.client.registry import Schema as OwnSchema
from moldau.client.serdes.avro import AvroSerde
from moldau.client.serdes.json_serde import JsonSerde
from moldau.client.serdes.protobuf import ProtobufSerde
from unit.registry.started import StartedRegistry

FRUIT = '{"type":"record","name":"Fruit","fields":[{"name":"what","type":"string"}]}'
RIPE = (
    '{"type":"record","name":"Fruit","fields":[{"name":"what","type":"string"},'
    '{"name":"ripe","type":"boolean","default":true}]}'
)
PERSON = '{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}'


@pytest.fixture
def client(registry: StartedRegistry) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": registry.url}) as client:
        yield client


def of_topic(topic: str) -> SerializationContext:
    return SerializationContext(topic, MessageField.VALUE)


def test_avro_values_go_there_and_back(client: SchemaRegistryClient) -> None:
    context = of_topic("avro-fruit")
    written = AvroSerializer(client, FRUIT)({"what": "pear"}, context)
    assert AvroDeserializer(client)(written, context) == {"what": "pear"}
    read = AvroDeserializer(client, RIPE)(written, context)
    assert read == {"what": "pear", "ripe": True}, "a newer schema reads what an older one wrote"
    assert client.get_subjects().count("avro-fruit-value") == 1


def test_an_avro_schema_uses_another(client: SchemaRegistryClient) -> None:
    client.register_schema("fruit", Schema(FRUIT, "AVRO"))
    basket = '{"type":"record","name":"Basket","fields":[{"name":"of","type":"Fruit"}]}'
    schema = Schema(basket, "AVRO", [SchemaReference("Fruit", "fruit", 1)])
    context = of_topic("basket")
    written = AvroSerializer(client, schema)({"of": {"what": "fig"}}, context)
    assert AvroDeserializer(client)(written, context) == {"of": {"what": "fig"}}


def test_json_values_go_there_and_back(client: SchemaRegistryClient) -> None:
    context = of_topic("json-person")
    written = JSONSerializer(PERSON, client)({"name": "Anna"}, context)
    for schema in (PERSON, None):
        deserializer = JSONDeserializer(schema, schema_registry_client=client)
        assert deserializer(written, context) == {"name": "Anna"}


def make_message(name: str, build: Callable[[descriptor_pb2.FileDescriptorProto], None]) -> type:
    pool = DescriptorPool()
    pool.AddSerializedFile(timestamp_pb2.DESCRIPTOR.serialized_pb)
    file = descriptor_pb2.FileDescriptorProto(name=f"{name}.proto", package="shop", syntax="proto3")
    build(file)
    pool.AddSerializedFile(file.SerializeToString())
    found: type = GetMessageClass(pool.FindMessageTypeByName(f"shop.{name}"))
    return found


def test_protobuf_values_go_there_and_back(client: SchemaRegistryClient) -> None:
    def build(file: descriptor_pb2.FileDescriptorProto) -> None:
        file.dependency.append("google/protobuf/timestamp.proto")
        message = file.message_type.add(name="Order")
        message.field.add(name="what", number=1, type=9, label=1)
        message.field.add(
            name="at", number=2, type=11, label=1, type_name=".google.protobuf.Timestamp"
        )

    order = make_message("Order", build)
    context = of_topic("protobuf-order")
    config = {"use.deprecated.format": False}
    sent = order(what="pears", at={"seconds": 7})
    written = ProtobufSerializer(order, client, config)(sent, context)
    read = ProtobufDeserializer(order, config, client)(written, context)
    assert read.what == "pears"
    assert read.at.seconds == 7
    stored = client.get_latest_version("protobuf-order-value").schema.schema_str or ""
    assert "message Order {" in stored
    assert 'import "google/protobuf/timestamp.proto";' in stored


def test_the_client_administers_it(client: SchemaRegistryClient) -> None:
    first = client.register_schema("admin", Schema(FRUIT, "AVRO"))
    assert client.register_schema("admin", Schema(FRUIT, "AVRO")) == first
    assert client.lookup_schema("admin", Schema(FRUIT, "AVRO")).version == 1
    assert client.test_compatibility("admin", Schema(RIPE, "AVRO"))
    assert not client.test_compatibility("admin", Schema('"string"', "AVRO"))
    client.set_compatibility("admin", "FULL_TRANSITIVE")
    assert client.get_compatibility("admin") == "FULL_TRANSITIVE"
    assert client.register_schema("admin", Schema(RIPE, "AVRO")) != first
    assert client.get_versions("admin") == [1, 2]
    assert client.delete_version("admin", 1) == 1
    assert client.delete_subject("admin") == [2]
    assert client.delete_subject("admin", permanent=True) == [1, 2]
    with pytest.raises(SchemaRegistryError) as refused:
        client.get_latest_version("admin")
    assert refused.value.error_code == 40401


def test_our_own_serializers_use_it(registry: StartedRegistry) -> None:
    ours = Registry(registry.url)
    old = AvroSerde(FRUIT, registry=ours, subject="own-value")
    written = old.serialize({"what": "plum"})
    assert AvroSerde(RIPE, registry=ours).deserialize(written) == {"what": "plum", "ripe": True}
    strict = Registry(registry.url, auto_register=False)
    with pytest.raises(RegistryError) as refused:
        AvroSerde(RIPE, registry=strict, subject="own-value").serialize({"what": "plum"})
    assert refused.value.code == 40403
    AvroSerde(RIPE, registry=ours, subject="own-value").register()
    newest = Registry(registry.url, use_latest=True)
    latest = AvroSerde(FRUIT, registry=newest, subject="own-value")
    assert AvroSerde(registry=ours).deserialize(latest.serialize({"what": "plum"})) == {
        "what": "plum",
        "ripe": True,
    }
    person = JsonSerde(PERSON, registry=ours, subject="own-json")
    assert person.deserialize(person.serialize({"name": "Anna"})) == {"name": "Anna"}


def test_our_own_serializers_use_schemas_that_use_others(registry: StartedRegistry) -> None:
    ours = Registry(registry.url)
    ours.register("own-fruit", OwnSchema(FRUIT))
    basket = '{"type":"record","name":"Basket","fields":[{"name":"of","type":"Fruit"}]}'
    used = [Reference("Fruit", "own-fruit", 1)]
    serde = AvroSerde(basket, registry=ours, subject="own-basket", references=used)
    written = serde.serialize({"of": {"what": "fig"}})
    assert serde.deserialize(written) == {"of": {"what": "fig"}}
    for other in (AvroSerde(registry=Registry(registry.url)), AvroSerde(registry=ours)):
        assert other.deserialize(written) == {"of": {"what": "fig"}}
    newest = AvroSerde(registry=ours, subject="own-basket")
    assert newest.serialize({"of": {"what": "fig"}}) == written
    ours.register("own-person", OwnSchema(PERSON, "JSON"))
    people = JsonSerde(
        {"type": "array", "items": {"$ref": "person.json"}},
        registry=ours,
        subject="own-people",
        references=[Reference("person.json", "own-person", 1)],
    )
    people.register()
    assert ours.latest("own-people")[1].references == (Reference("person.json", "own-person", 1),)


def test_our_own_protobuf_is_registered_with_what_it_imports(
    registry: StartedRegistry, client: SchemaRegistryClient
) -> None:
    pool = DescriptorPool()
    pool.AddSerializedFile(timestamp_pb2.DESCRIPTOR.serialized_pb)
    place = descriptor_pb2.FileDescriptorProto(name="own/place.proto", syntax="proto3")
    place.message_type.add(name="Place").field.add(name="x", number=1, type=3, label=1)
    trip = descriptor_pb2.FileDescriptorProto(name="own/trip.proto", syntax="proto3")
    trip.dependency.extend(["own/place.proto", "google/protobuf/timestamp.proto"])
    trip.message_type.add(name="Other")
    message = trip.message_type.add(name="Trip")
    message.field.add(name="to", number=1, type=11, label=1, type_name=".Place")
    for file in (place, trip):
        pool.AddSerializedFile(file.SerializeToString())
    trip_class = GetMessageClass(pool.FindMessageTypeByName("Trip"))
    ours = Registry(registry.url)
    serde = ProtobufSerde(trip_class, registry=ours, subject="own-trip")
    written = serde.serialize(trip_class(to={"x": 7}))
    assert serde.deserialize(written).to.x == 7
    assert ours.latest("own-trip")[1].references == (
        Reference("own/place.proto", "own/place.proto", 1),
    )
    config = {"use.deprecated.format": False}
    theirs = ProtobufDeserializer(trip_class, config, client)(written, of_topic("own-trip"))
    assert theirs.to.x == 7
    strict = Registry(registry.url, auto_register=False)
    assert (
        ProtobufSerde(trip_class, registry=strict, subject="own-trip").serialize(
            trip_class(to={"x": 7})
        )
        == written
    ), "found without registering anything"
