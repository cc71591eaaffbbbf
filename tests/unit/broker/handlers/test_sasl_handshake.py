"""SaslHandshake where there is nothing to choose; see tests/unit/broker/login for the rest."""

from moldau.errors import ErrorCode
from moldau.protocol.messages.sasl_handshake import SaslHandshakeRequest
from unit.broker.world import World


async def test_a_listener_without_sasl_says_so(world: World) -> None:
    for version in (0, 1):
        answer = await world.ask(SaslHandshakeRequest(mechanism="PLAIN"), version)
        assert (answer.error_code, answer.mechanisms) == (ErrorCode.ILLEGAL_SASL_STATE, [])
