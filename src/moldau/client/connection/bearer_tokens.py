"""Bearer tokens for OAUTHBEARER: given, made by a function, or fetched with credentials."""

from collections.abc import Awaitable, Callable

from moldau.client.beside import call_beside, call_or_await
from moldau.client.security_settings import SecuritySettings
from moldau.security.token_endpoint import fetch_token, token_request

Provider = Callable[[], Awaitable[str]]


def token_provider(settings: SecuritySettings, *, timeout_s: float) -> Provider:
    """Where tokens come from; a new one for each connection, since they do not live long."""
    if settings.sasl_oauthbearer_token_provider is not None:
        function = settings.sasl_oauthbearer_token_provider
        return lambda: _call(function)
    if settings.sasl_oauthbearer_token_endpoint_url:
        request = token_request(settings.sasl_oauthbearer_token_endpoint_url, settings.login)
        return lambda: call_beside(fetch_token, request, timeout_s)

    async def given() -> str:
        return settings.sasl_oauthbearer_token

    return given


async def _call(function: Callable[[], object]) -> str:
    made = await call_or_await(function)
    if not isinstance(made, str):
        kind = type(made).__name__
        raise TypeError(f"sasl_oauthbearer_token_provider must return a text, not {kind}")
    return made
