"""DescribeUserScramCredentials."""

from moldau.broker.login.users import SecretChange
from moldau.protocol.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    UserName,
)
from moldau.security.scram import ScramSecret
from unit.broker.world import World


async def describe(world: World, *names: str) -> list[tuple[object, ...]]:
    users = [UserName(name=name) for name in names]
    answer = await world.ask(DescribeUserScramCredentialsRequest(users=users), 0)
    assert answer.error_code == 0
    return [
        (
            one.user,
            one.error_code,
            one.error_message,
            *tuple((info.mechanism, info.iterations) for info in one.credential_infos),
        )
        for one in answer.results
    ]


async def test_mechanism_and_iterations_are_shown_and_nothing_else(world: World) -> None:
    secret = ScramSecret(b"salt", 8192, b"stored", b"server")
    for user in ("ben", "anna"):
        await world.broker.users.alter(user, [SecretChange("SCRAM-SHA-512", secret)])
    anna, ben = (("anna", 0, None, (2, 8192)), ("ben", 0, None, (2, 8192)))
    assert await describe(world) == [anna, ben]
    assert await describe(world, "ben") == [ben]
    everything = DescribeUserScramCredentialsRequest(users=None)
    assert len((await world.ask(everything, 0)).results) == 2


async def test_what_is_not_there_or_asked_twice_is_refused(world: World) -> None:
    missing = "Attempt to describe a user credential that does not exist: "
    twice = "Cannot describe SCRAM credentials for the same user twice in a single request: ben"
    assert await describe(world, "eve", "", "ben", "ben") == [
        ("eve", 91, f"{missing}eve"),
        ("", 91, missing),
        ("ben", 92, twice),
    ]
