"""Users with SCRAM passwords."""

import pytest

from moldau.client.admin.users import ScramCredential, ScramDeletion, ScramPassword
from moldau.errors import ResourceNotFound, UnsupportedSaslMechanism
from moldau.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
)
from moldau.protocol.messages.describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)
from moldau.security.scram import salted_password
from unit.client.admin.answering import Answering, admin_of


async def test_users_are_shown_with_their_mechanisms() -> None:
    found = DescribeUserScramCredentialsResult(
        user="anna",
        error_code=0,
        error_message=None,
        credential_infos=[CredentialInfo(mechanism=2, iterations=4096)],
    )
    missing = DescribeUserScramCredentialsResult(
        user="ben", error_code=91, error_message="nobody", credential_infos=[]
    )
    answer = DescribeUserScramCredentialsResponse(
        throttle_time_ms=0, error_code=0, error_message=None, results=[found, missing]
    )
    broker = Answering(DescribeUserScramCredentials=lambda _: answer)
    async with admin_of(broker) as admin:
        outcomes = await admin.describe_user_scram_credentials(["anna", "ben"])
        await admin.describe_user_scram_credentials()
    assert outcomes["anna"] == [ScramCredential("SCRAM-SHA-512", 4096)]
    with pytest.raises(ResourceNotFound, match="nobody"):
        outcomes["ben"]
    assert [user.name for user in broker.asked[0].users] == ["anna", "ben"]
    assert broker.asked[1].users is None


async def test_a_password_leaves_as_a_hash() -> None:
    results = [
        AlterUserScramCredentialsResult(user=user, error_code=0, error_message=None)
        for user in ("anna", "ben")
    ]
    answer = AlterUserScramCredentialsResponse(throttle_time_ms=0, results=results)
    broker = Answering(AlterUserScramCredentials=lambda _: answer)
    async with admin_of(broker) as admin:
        changes: list[ScramPassword | ScramDeletion] = [
            ScramPassword("anna", "secret", "SCRAM-SHA-256"),
            ScramDeletion("ben"),
        ]
        (await admin.alter_user_scram_credentials(changes)).check()
    (asked,) = broker.asked
    (upsertion,) = asked.upsertions
    assert (upsertion.name, upsertion.mechanism, upsertion.iterations) == ("anna", 1, 4096)
    assert upsertion.salted_password == salted_password(
        "SCRAM-SHA-256", "secret", salt=upsertion.salt, iterations=4096
    )
    assert [(each.name, each.mechanism) for each in asked.deletions] == [("ben", 2)]
    assert "secret" not in repr(changes)


async def test_a_mechanism_that_does_not_exist_is_refused_here() -> None:
    async with admin_of(Answering()) as admin:
        with pytest.raises(UnsupportedSaslMechanism, match="SCRAM-MD5 is none of"):
            await admin.alter_user_scram_credentials([ScramDeletion("anna", "SCRAM-MD5")])
