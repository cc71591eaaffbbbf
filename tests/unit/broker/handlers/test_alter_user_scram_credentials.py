"""AlterUserScramCredentials; the rules are those of broker/login/user_changes.py."""

import pytest

from moldau.errors import ErrorCode
from moldau.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from unit.broker.world import World


def setting(user: str, iterations: int = 4096) -> ScramCredentialUpsertion:
    return ScramCredentialUpsertion(
        name=user, mechanism=1, iterations=iterations, salt=b"salt", salted_password=b"x" * 32
    )


async def test_each_user_has_its_own_outcome(world: World) -> None:
    request = AlterUserScramCredentialsRequest(
        deletions=[ScramCredentialDeletion(name="eve", mechanism=1)],
        upsertions=[setting("anna"), setting("ben", 5)],
    )
    answer = await world.ask(request, 0)
    assert [(one.user, one.error_code, one.error_message) for one in answer.results] == [
        ("eve", 91, "Attempt to delete a user credential that does not exist"),
        ("anna", 0, None),
        ("ben", 93, "Too few iterations"),
    ]
    assert list(await world.broker.users.described("anna")) == ["SCRAM-SHA-256"]
    assert await world.broker.users.described("ben") == {}


async def test_only_the_controller_does_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(world.broker.controller), "is_controller", False)
    request = AlterUserScramCredentialsRequest(deletions=[], upsertions=[setting("anna")])
    (result,) = (await world.ask(request, 0)).results
    assert (result.user, result.error_code) == ("anna", ErrorCode.NOT_CONTROLLER)
