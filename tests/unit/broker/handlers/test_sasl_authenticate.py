"""SaslAuthenticate where there is nothing to prove; see tests/unit/broker/login for the rest."""

from moldau.errors import ErrorCode
from moldau.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from unit.broker.world import World


async def test_a_listener_without_sasl_says_so(world: World) -> None:
    for version in (0, 1, 2):
        answer = await world.ask(SaslAuthenticateRequest(auth_bytes=b"x"), version)
        assert answer.error_code == ErrorCode.ILLEGAL_SASL_STATE
        assert answer.error_message == (
            "SaslAuthenticate request received after successful authentication"
        )
