"""Clients of Confluent's registry in Java, Go and JavaScript use ours as it is.

Those in Python are in tests/unit/registry/test_running.py.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.apache.lines import JavaProgram
from conformance.apache.marks import needs_apache
from conformance.clients.programs import go_program, node_program
from conformance.clients.talking import call
from conformance.our_broker import OurBroker
from conformance.our_registry import our_registry

_USERS = "anna: secret\nbob: secret, read-only\nbearer ci: 0d6f2c40b1\n"


@pytest.fixture(scope="module")
def registry(broker: OurBroker) -> Iterator[str]:
    with our_registry(broker) as running:
        yield running.url


@pytest.fixture(scope="module")
def guarded(broker: OurBroker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A registry that asks who it is."""
    users = Path(tmp_path_factory.mktemp("users")) / "users"
    users.write_text(_USERS)
    with our_registry(broker, "--topic=guarded", "--group=guarded", f"--users={users}") as running:
        yield running.url


@pytest.mark.needs("go")
def test_franz_go(registry: str) -> None:
    assert call(go_program("franz"), {"registry": registry, "topic": "franz"}) == {
        "text": True,
        "kinds": ["AVRO", "PROTOBUF", "JSON"],
        "ripe fits": True,
        "int fits": False,
        "level": "FULL_TRANSITIVE",
        "versions": [1, 2],
        "looked up": True,
        "refused": 409,
        "users": True,
        "read": "Anna",
        "deleted": [1, 2],
        "deleted for ever": [1, 2],
        "gone": 40401,
    }


@pytest.mark.needs("node", "npm")
def test_kafkajs(registry: str) -> None:
    program = node_program("kafkajs", "schemas.js")
    assert call(program, {"registry": registry, "subject": "kafkajs"}) == {
        "avro": {"same": True, "read": {"what": "pear"}},
        "json": {"same": True, "read": {"name": "Anna"}},
        "protobuf": {"same": True, "read": {"what": "figs"}},
        "reference": {"same": True, "read": {"of": {"what": "plum"}}},
        "lookedUp": True,
        "refused": 409,
    }


@pytest.fixture(scope="module")
def java() -> Iterator[JavaProgram]:
    with JavaProgram("schemas", "registry-client-7.5", "json") as program:
        yield program


@needs_apache("registry-client-7.5", "json")
def test_confluents_client_in_java(java: JavaProgram, registry: str) -> None:
    assert java.call("converse", url=registry, subject="java") == {
        "same": True,
        "id again": True,
        "version": 1,
        "latest": True,
        "compatible": True,
        "reasons": True,
        "level": "FULL",
        "level again": "FULL",
        "mode": "READONLY",
        "refused": 42205,
        "incompatible": 409,
        "reference": "java",
        "subjects of id": ["java"],
        "versions": [1],
        "deleted": [1],
        "deleted version": 1,
        "deleted for ever": 1,
    }


@needs_apache("registry-client-7.5", "json")
@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({}, 401),
        ({"basic.auth.user.info": "anna:wrong"}, 401),
        ({"basic.auth.user.info": "bob:secret"}, 403),
        ({"basic.auth.user.info": "anna:secret"}, 0),
        ({"bearer.auth.token": "0d6f2c40b1"}, 0),
        ({"bearer.auth.token": "another"}, 401),
    ],
)
def test_who_java_says_it_is(
    java: JavaProgram, guarded: str, settings: dict[str, str], code: int
) -> None:
    named = {
        "basic.auth.user.info": {"basic.auth.credentials.source": "USER_INFO"},
        "bearer.auth.token": {"bearer.auth.credentials.source": "STATIC_TOKEN"},
    }
    source = named.get(next(iter(settings), ""), {})
    answer = java.call("refusal", url=guarded, subject="java", settings={**settings, **source})
    assert answer == code
