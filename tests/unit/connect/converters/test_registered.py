"""A registry by Java's settings, and whose fault an error is."""

from collections.abc import Iterator

import pytest

from moldau.client.registry import RegistryError
from moldau.connect.converters.registered import registry_errors, registry_of
from moldau.connect.errors import ConfigError, DataError, RetriableConnectError
from unit.client.registry_server import RegistryServer, registry_server


@pytest.fixture
def server() -> Iterator[RegistryServer]:
    with registry_server() as running:
        yield running


def test_a_login_is_taken_from_the_settings_of_java(server: RegistryServer) -> None:
    for settings in (
        {"basic.auth.user.info": "me:p@ss:/word"},
        {"schema.registry.basic.auth.user.info": "me:p@ss:/word"},
        {"bearer.auth.token": "t"},
    ):
        with pytest.raises(RegistryError):
            registry_of({"schema.registry.url": f"{server.url},http://b", **settings}).schema(1)
    basic = "Basic bWU6cEBzczovd29yZA=="
    assert server.authorizations == [basic, basic, "Bearer t"]


def test_an_address_that_is_none_is_named_without_its_password() -> None:
    with pytest.raises(ConfigError, match="no address of a registry") as refused:
        registry_of({"schema.registry.url": "nope://me:secret@x"})
    assert "secret" not in str(refused.value)


def test_what_may_pass_is_told_from_what_is_wrong() -> None:
    for error, kind in (
        (RegistryError("away"), RetriableConnectError),
        (RegistryError("ill", 50001), RetriableConnectError),
        (RegistryError("incompatible", 409), DataError),
        (RegistryError("unknown", 40403), DataError),
        (ValueError("no such value"), DataError),
    ):
        with pytest.raises(kind, match=f"writing: {error}"), registry_errors("writing"):
            raise error
