"""Begins the logins of clients, brokers among them, by the options of a login module."""

import secrets
from collections.abc import Mapping

from moldau.security.exchange import ClientExchange
from moldau.security.plain import PlainClient
from moldau.security.scram import ScramClient

_NONCE_BYTES = 24


def begin_by_password(mechanism: str, options: Mapping[str, str]) -> ClientExchange:
    """An exchange by user and password, or by a delegation token that stands for them."""
    user, password = options["username"], options["password"]
    if mechanism == PlainClient.mechanism:
        return PlainClient(user, password)
    is_token = options.get("tokenauth", "").lower() == "true"
    nonce = secrets.token_urlsafe(_NONCE_BYTES)
    return ScramClient(mechanism, user, password, nonce, is_token=is_token)
