"""Who may ask for delegation tokens at all."""

from moldau.broker.context import Client
from moldau.config.listeners import SecurityProtocol
from moldau.errors import ErrorCode, KafkaError
from moldau.security.principals import ANONYMOUS


def require_token_requests(client: Client) -> None:
    """Raise unless a client is known, and by something better than a token itself."""
    is_unknown = client.protocol is SecurityProtocol.PLAINTEXT or (
        client.protocol is SecurityProtocol.SSL and client.principal == ANONYMOUS
    )
    if is_unknown or client.is_by_token:
        raise KafkaError(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)
