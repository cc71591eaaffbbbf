"""Which bearer tokens a listener takes, as its settings say.

A token is worth what its signature is worth. Kafka takes tokens that nobody signed where no keys
are configured, and so lets everybody in as anybody; here that takes a setting which says so.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from moldau.config.listener_settings import ListenerSettings
from moldau.config.values import config_error
from moldau.security.web_keys import require_cryptography
from moldau.security.web_tokens import ClaimRules

_MECHANISM = "OAUTHBEARER"
_URL = "sasl.oauthbearer.jwks.endpoint.url"
_UNSECURED = "moldau.oauthbearer.allow.unsecured.tokens"
_ISSUER = "sasl.oauthbearer.expected.issuer"
_AUDIENCE = "sasl.oauthbearer.expected.audience"
_ANY = {
    _ISSUER: "moldau.oauthbearer.allow.any.issuer",
    _AUDIENCE: "moldau.oauthbearer.allow.any.audience",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySource:
    """Where the keys are that verify tokens, and how often to look."""

    url: str
    refresh_ms: int
    backoff_ms: int
    backoff_max_ms: int
    timeout_ms: int
    trust: Mapping[str, str] = field(repr=False)
    """Options of TLS towards the identity provider."""


@dataclass(frozen=True, slots=True)
class BearerSettings:
    """How tokens are validated."""

    rules: ClaimRules
    keys: KeySource | None
    """None: tokens need no signature."""


def read_bearer_settings(settings: ListenerSettings, options: Mapping[str, str]) -> BearerSettings:
    """What a listener wants of tokens; InvalidConfig if that would let in everybody."""
    if settings.text(_URL, _MECHANISM):
        return BearerSettings(_signed_rules(settings), _key_source(settings, options))
    if settings.value(_UNSECURED, _MECHANISM):
        return BearerSettings(_unsigned_rules(options), None)
    raise config_error(
        f"{_URL}: OAUTHBEARER needs the keys that verify tokens; to let in anyone who writes one, "
        f"in a test, set {_UNSECURED}=true"
    )


def _signed_rules(settings: ListenerSettings) -> ClaimRules:
    for name, opt_out in _ANY.items():
        if not settings.value(name, _MECHANISM) and not settings.value(opt_out, _MECHANISM):
            raise config_error(
                f"{name}: without it tokens for others would be taken; {opt_out}=true does that"
            )
    audiences = settings.value(_AUDIENCE, _MECHANISM)
    issuer = settings.value(_ISSUER, _MECHANISM)
    skew_s = settings.value("sasl.oauthbearer.clock.skew.seconds", _MECHANISM)
    assert audiences is None or isinstance(audiences, tuple)
    assert issuer is None or isinstance(issuer, str)
    assert isinstance(skew_s, int)
    return ClaimRules(
        issuer=issuer or None,
        audiences=audiences or None,
        user_claim=str(settings.value("sasl.oauthbearer.sub.claim.name", _MECHANISM)),
        scope_claim=str(settings.value("sasl.oauthbearer.scope.claim.name", _MECHANISM)),
        clock_skew_ms=1000 * skew_s,
    )


def _unsigned_rules(options: Mapping[str, str]) -> ClaimRules:
    def option(name: str, default: str) -> str:
        return options.get(f"unsecuredValidator{name}", default)

    skew = option("AllowableClockSkewMs", "0")
    if not skew.isdecimal():
        raise config_error("unsecuredValidatorAllowableClockSkewMs is not a number")
    return ClaimRules(
        user_claim=option("PrincipalClaimName", "sub"),
        scope_claim=option("ScopeClaimName", "scope"),
        required_scopes=tuple(option("RequiredScope", "").split()),
        has_issue_time=False,
        clock_skew_ms=int(skew),
    )


def _key_source(settings: ListenerSettings, options: Mapping[str, str]) -> KeySource:
    def number(name: str) -> int:
        value = settings.value(name, _MECHANISM)
        assert isinstance(value, int)
        return value

    url = settings.text(_URL, _MECHANISM) or ""
    if urlsplit(url).scheme not in ("https", "file"):
        raise config_error(f"{_URL}: keys are read by https, or from a file (file:///path)")
    require_cryptography(_URL)
    timeout_ms = settings.value("sasl.login.read.timeout.ms", _MECHANISM)
    return KeySource(
        url=url,
        refresh_ms=number("sasl.oauthbearer.jwks.endpoint.refresh.ms"),
        backoff_ms=number("sasl.oauthbearer.jwks.endpoint.retry.backoff.ms"),
        backoff_max_ms=number("sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms"),
        timeout_ms=timeout_ms if isinstance(timeout_ms, int) else 10_000,
        trust={name: value for name, value in options.items() if name.startswith("ssl.")},
    )
