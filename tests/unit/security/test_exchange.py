"""The error of exchanges."""

from moldau.errors import SaslAuthenticationFailed
from moldau.security.exchange import refused


def test_a_refusal_is_an_authentication_that_failed() -> None:
    error = refused("why")
    assert isinstance(error, SaslAuthenticationFailed)
    assert str(error) == "why"
