"""A registry is asked over HTTP, and each thing once."""

import pickle
from collections.abc import Iterator

import pytest

from moldau.client.registry import (
    HEADER_SIZE,
    Reference,
    Registry,
    RegistryAccess,
    RegistryError,
    Schema,
    SubjectName,
    put_header,
    schema_id_of,
)
from unit.client.registry_server import RegistryServer, registry_server


@pytest.fixture
def server() -> Iterator[RegistryServer]:
    with registry_server() as server:
        yield server


def test_schemas_are_registered_and_found_again(server: RegistryServer) -> None:
    registry = Registry(server.url)
    avro, other = Schema('"string"'), Schema("{}", "JSON")
    assert registry.register("orders-value", avro) == 1
    assert registry.register("a/b", other) == 2
    assert Registry(server.url).schema(1) == avro
    assert Registry(server.url).schema(2) == other
    assert registry.latest("a/b") == (2, other)
    assert server.asked[:2] == [
        "POST /subjects/orders-value/versions",
        "POST /subjects/a%2Fb/versions",
    ]


def test_nothing_is_asked_twice(server: RegistryServer) -> None:
    registry = Registry(f"{server.url}/")
    for _ in range(3):
        registry.register("s", Schema('"int"'))
        registry.schema(1)
    assert len(server.asked) == 2


def test_a_name_and_a_password_may_be_in_the_address(server: RegistryServer) -> None:
    registry = Registry(server.url.replace("//", "//me:p%40ss@"))
    registry.register("s", Schema('"int"'))
    assert server.authorizations == ["Basic bWU6cEBzcw=="]


def test_a_program_has_a_token(server: RegistryServer) -> None:
    registry = Registry(server.url, access=RegistryAccess("0d6f2c40b1"))
    registry.register("s", Schema('"int"'))
    assert server.authorizations == ["Bearer 0d6f2c40b1"]


def test_what_a_schema_uses_is_found_each_once_and_in_order(server: RegistryServer) -> None:
    registry = Registry(server.url)
    registry.register("a", Schema("A"))
    to_a, to_b = Reference("A", "a", 1), Reference("B", "b", 1)
    using = Schema("B", references=(to_a,))
    registry.register("b", using)
    top = Schema("C", references=(to_a, to_b, to_a))
    number = registry.register("c", top)
    assert registry.version_of("b", using) == 1
    found = Registry(server.url).schema(number)
    assert found == top
    assert [name for name, _ in registry.used_by(found)] == ["A", "B"]
    assert dict(registry.used_by(found))["B"] == using


def test_one_goes_to_other_processes(server: RegistryServer) -> None:
    for url in (server.url, "https://localhost:1"):
        sent = pickle.loads(pickle.dumps(Registry(url, access=RegistryAccess("t", "/none.pem"))))
        assert isinstance(sent, Registry)


def test_authorities_that_are_not_there_are_said() -> None:
    access = RegistryAccess(trusted="/none.pem")
    with pytest.raises(RegistryError, match="No such file"):
        Registry("https://localhost:1", access=access).schema(1)


def test_refusals_carry_the_code_of_the_registry(server: RegistryServer) -> None:
    registry = Registry(server.url)
    with pytest.raises(RegistryError, match="Schema not found") as caught:
        registry.schema(7)
    assert caught.value.code == 40403
    with pytest.raises(RegistryError, match="Invalid schema"):
        registry.register("s", Schema("nonsense"))
    with pytest.raises(RegistryError, match="no JSON") as caught:
        Registry(f"{server.url}/broken").schema(1)
    assert caught.value.code == 500


def test_nobody_there_is_an_error_that_says_where() -> None:
    with pytest.raises(RegistryError, match=r"GET http://127\.0\.0\.1:1/schemas/ids/1"):
        Registry("http://127.0.0.1:1").schema(1)
    with pytest.raises(ValueError, match="no address of a registry"):
        Registry("localhost:8081")


def test_values_carry_the_number_of_their_schema() -> None:
    framed = put_header(7, b"body")
    assert framed == b"\0\0\0\0\x07body"
    assert schema_id_of(framed) == 7
    assert framed[HEADER_SIZE:] == b"body"
    for bad in (b"", b"\0\0\0\0", b"\1\0\0\0\7"):
        with pytest.raises(ValueError, match="number of a schema"):
            schema_id_of(bad)


def test_what_is_written_with_is_registered_looked_up_or_the_newest(server: RegistryServer) -> None:
    old, new = Schema('"int"'), Schema('"long"')
    assert Registry(server.url).for_writing("s", old) == 1
    assert Registry(server.url, auto_register=False).for_writing("s", old) == 1
    assert server.asked[-2:] == ["POST /subjects/s/versions", "POST /subjects/s"]
    assert Registry(server.url).for_writing("s", new) == 2
    assert Registry(server.url, use_latest=True).for_writing("s", old) == 2


def test_subjects_are_named_as_java_names_them() -> None:
    assert SubjectName.TOPIC.of("orders") == "orders-value"
    assert SubjectName.TOPIC.of("orders", is_key=True) == "orders-key"
    assert SubjectName("RecordNameStrategy").of("orders", "shop.Order") == "shop.Order"
    assert SubjectName.TOPIC_RECORD.of("orders", "shop.Order") == "orders-shop.Order"
    with pytest.raises(ValueError, match="name of the record"):
        SubjectName.RECORD.of("orders")
