"""Tokens from an identity provider; see also tests/unit/client/connection/test_bearer_tokens.py."""

import pytest

from moldau.errors import InvalidConfig, SaslAuthenticationFailed
from moldau.security.token_endpoint import fetch_token, token_request


def test_a_request_carries_the_credentials_and_the_scope() -> None:
    options = {"clientId": "me", "clientSecret": "secret", "scope": "all"}
    request = token_request("https://idp.example/token", options)
    assert request.get_header("Authorization") == "Basic bWU6c2VjcmV0"
    assert request.data == b"grant_type=client_credentials&scope=all"


def test_credentials_are_needed() -> None:
    with pytest.raises(InvalidConfig, match=r"client\.id"):
        token_request("https://idp.example/token", {"clientId": "me"})


def test_no_token_is_a_failed_login() -> None:
    request = token_request("http://127.0.0.1:1/", {"clientId": "a", "clientSecret": "b"})
    with pytest.raises(SaslAuthenticationFailed, match="no token from http"):
        fetch_token(request, 5)
