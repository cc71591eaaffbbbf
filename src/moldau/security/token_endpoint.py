"""Tokens from an identity provider, by the client credentials grant of RFC 6749."""

import base64
import json
import ssl
from collections.abc import Mapping
from urllib.parse import urlencode, urlsplit
from urllib.request import Request

from moldau.config.values import invalid
from moldau.security.exchange import refused
from moldau.security.web_fetch import FetchFailed, fetch

SETTING = "sasl.oauthbearer.token.endpoint.url"


def token_request(url: str, options: Mapping[str, str]) -> Request:
    """What asks for a token; the options are those of the login module."""
    if urlsplit(url).scheme not in ("https", "http"):
        raise invalid(SETTING, url, "an address with https")
    client_id, secret = options.get("clientId", ""), options.get("clientSecret", "")
    if not client_id or not secret:
        setting = "sasl.oauthbearer.client.credentials.client.id"
        raise invalid(setting, "(empty)", "set, and the client.secret too")
    body = {"grant_type": "client_credentials"}
    if "scope" in options:
        body["scope"] = options["scope"]
    credentials = base64.b64encode(f"{client_id}:{secret}".encode()).decode()
    headers = {"Authorization": f"Basic {credentials}", "Accept": "application/json"}
    return Request(url, urlencode(body).encode(), headers)  # noqa: S310 - the scheme is checked


def fetch_token(request: Request, timeout_s: float, context: ssl.SSLContext | None = None) -> str:
    """A token; blocks, so it is called in a thread."""
    where = request.full_url
    try:
        token = json.loads(fetch(request, timeout_s=timeout_s, context=context))["access_token"]
    except FetchFailed as error:
        raise refused(f"no token from {where}: {error}") from error
    except (ValueError, KeyError, TypeError, RecursionError):
        raise refused(f"{where} answered without an access_token") from None
    return str(token)
