"""Who may do what, and what is said before the registry has started."""

import base64
import json
from pathlib import Path

import pytest

from certificates import authority, identity
from moldau.client.registry import Registry, RegistryAccess, RegistryError, Schema
from moldau.registry.rest.app import StartingApp
from moldau.registry.running import RegistryFrontage
from moldau.testing.broker import EmbeddedBroker
from moldau.web.server import Binding
from moldau.web.users import Users
from unit.registry.started import started_registry
from unit.web.requests import ask

SCHEMA = {"schema": '"int"'}


def basic(name: str) -> str:
    return "Basic " + base64.b64encode(f"{name}:secret".encode()).decode()


def test_a_read_only_user_looks_up_and_compares_but_does_not_write(broker: EmbeddedBroker) -> None:
    users = Users(["anna: secret", "bob: secret, read-only", "bearer ci: token"])
    frontage = RegistryFrontage(Binding(0), users)
    with started_registry(broker.bootstrap_servers, frontage, topic="users") as registry:

        def status(method: str, path: str, user: str, body: object = None) -> int:
            return registry.ask(method, path, body, Authorization=user).status

        assert registry.ask("GET", "/subjects").status == 401
        assert status("POST", "/subjects/a/versions", basic("bob"), SCHEMA) == 403
        assert status("POST", "/subjects/a/versions", basic("anna"), SCHEMA) == 200
        assert status("POST", "/subjects/b/versions", "Bearer token", SCHEMA) == 200
        assert status("GET", "/subjects", basic("bob")) == 200
        assert status("POST", "/subjects/a", basic("bob"), SCHEMA) == 200
        path = "/compatibility/subjects/a/versions/latest"
        assert status("POST", path, basic("bob"), SCHEMA) == 200
        for method, each in (("DELETE", "/subjects/a"), ("PUT", "/config"), ("PUT", "/mode/a")):
            assert status(method, each, basic("bob"), {"compatibility": "NONE"}) == 403


def test_one_that_speaks_tls_forwards_to_another_in_the_callers_name(
    broker: EmbeddedBroker, tmp_path: Path
) -> None:
    """Over real sockets: certificates, a token, a password in the address, a read-only user."""
    trusted = authority()
    certificate = identity(trusted, "localhost").write(tmp_path / "server.pem")
    (tmp_path / "trusted.pem").write_text(trusted.certificate_pem)
    users = Users(["anna: secret", "bob: secret, read-only", "bearer ci: token"])
    frontage = RegistryFrontage(
        Binding(0, certificate=certificate), users, trusted=str(tmp_path / "trusted.pem")
    )
    with (
        started_registry(broker.bootstrap_servers, frontage, topic="tls") as one,
        started_registry(broker.bootstrap_servers, frontage, topic="tls") as other,
    ):
        numbers = []
        for number, each in enumerate((one, other)):
            access = RegistryAccess("token", str(tmp_path / "trusted.pem"))
            schema = Schema(f'{{"type":"fixed","name":"F","size":{number}}}')
            ci = Registry(each.url, access=access)
            numbers.append(ci.register(f"s{number}", schema))
            anna = Registry(
                each.url.replace("//", "//anna:secret@"), access=RegistryAccess("", access.trusted)
            )
            assert anna.schema(numbers[-1]) == schema
            bob = Registry(
                each.url.replace("//", "//bob:secret@"), access=RegistryAccess("", access.trusted)
            )
            assert bob.look_up(f"s{number}", schema) == numbers[-1]
            with pytest.raises(RegistryError) as refused:
                bob.register("s", schema)
            assert refused.value.code == 403
            with pytest.raises(RegistryError, match="certificate verify failed"):
                Registry(each.url).schema(1)
        assert numbers == [1, 2]
        assert [one.service.is_leader, other.service.is_leader].count(True) == 1


async def test_before_the_topic_is_read_nothing_is_said_to_be_missing() -> None:
    found = await ask(StartingApp(), "GET", "/schemas/ids/1")
    assert found.status == 503
    assert json.loads(found.body)["error_code"] == 50001
