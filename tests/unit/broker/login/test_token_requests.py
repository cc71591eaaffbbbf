"""Who may ask for tokens."""

import pytest

from moldau.broker.context import Client
from moldau.broker.login.token_requests import require_token_requests
from moldau.config.listeners import SecurityProtocol
from moldau.errors import ErrorCode, KafkaError
from moldau.security.principals import ANONYMOUS, Principal

ANNA = Principal("User", "anna")


@pytest.mark.parametrize(
    ("protocol", "principal", "is_by_token", "is_allowed"),
    [
        (SecurityProtocol.PLAINTEXT, ANONYMOUS, False, False),
        (SecurityProtocol.SSL, ANONYMOUS, False, False),
        (SecurityProtocol.SSL, ANNA, False, True),
        (SecurityProtocol.SASL_PLAINTEXT, ANNA, False, True),
        (SecurityProtocol.SASL_SSL, ANNA, False, True),
        (SecurityProtocol.SASL_SSL, ANNA, True, False),
    ],
)
def test_a_client_must_be_known_and_not_by_a_token(
    protocol: SecurityProtocol, principal: Principal, *, is_by_token: bool, is_allowed: bool
) -> None:
    client = Client("L", "h", "h", 1, protocol, principal, is_by_token)
    if is_allowed:
        require_token_requests(client)
    else:
        with pytest.raises(KafkaError) as caught:
            require_token_requests(client)
        assert caught.value.code is ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
