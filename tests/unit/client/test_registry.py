"""A registry is asked over HTTP, and each thing once."""

from collections.abc import Iterator

import pytest

from moldau.client.registry import (
    HEADER_SIZE,
    Registry,
    RegistryError,
    Schema,
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
