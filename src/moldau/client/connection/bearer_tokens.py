"""Bearer tokens for OAUTHBEARER: given, made by a function, or fetched with credentials."""

import base64
import json
from collections.abc import Awaitable, Callable
from urllib.error import URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import Request, urlopen

from moldau.client.beside import call_beside, call_or_await
from moldau.client.connection.refusal import why
from moldau.client.security_settings import SecuritySettings
from moldau.config.values import invalid
from moldau.security.exchange import refused

Provider = Callable[[], Awaitable[str]]


def token_provider(settings: SecuritySettings, *, timeout_s: float) -> Provider:
    """Where tokens come from; a new one for each connection, since they do not live long."""
    if settings.sasl_oauthbearer_token_provider is not None:
        function = settings.sasl_oauthbearer_token_provider
        return lambda: _call(function)
    if settings.sasl_oauthbearer_token_endpoint_url:
        request = _request(settings)
        return lambda: call_beside(_fetch, request, timeout_s)

    async def given() -> str:
        return settings.sasl_oauthbearer_token

    return given


async def _call(function: Callable[[], object]) -> str:
    made = await call_or_await(function)
    if not isinstance(made, str):
        kind = type(made).__name__
        raise TypeError(f"sasl_oauthbearer_token_provider must return a text, not {kind}")
    return made


def _request(settings: SecuritySettings) -> Request:
    """The client credentials grant of RFC 6749."""
    url, login = settings.sasl_oauthbearer_token_endpoint_url, settings.login
    if urlsplit(url).scheme not in ("https", "http"):
        raise invalid("sasl.oauthbearer.token.endpoint.url", url, "an address with https")
    client_id, secret = login.get("clientId", ""), login.get("clientSecret", "")
    if not client_id or not secret:
        allowed = "set, and the client.secret too"
        raise invalid("sasl.oauthbearer.client.credentials.client.id", "(empty)", allowed)
    body = {"grant_type": "client_credentials"}
    if "scope" in login:
        body["scope"] = login["scope"]
    credentials = base64.b64encode(f"{client_id}:{secret}".encode()).decode()
    headers = {"Authorization": f"Basic {credentials}", "Accept": "application/json"}
    return Request(url, urlencode(body).encode(), headers)  # noqa: S310 - the scheme is checked


def _fetch(request: Request, timeout_s: float) -> str:
    where = request.full_url
    try:
        with urlopen(request, timeout=timeout_s) as answer:  # noqa: S310
            token = json.loads(answer.read())["access_token"]
    except (URLError, OSError) as error:
        raise refused(f"no token from {where}: {why(error)}") from error
    except (ValueError, KeyError, TypeError):
        raise refused(f"{where} answered without an access_token") from None
    return str(token)
