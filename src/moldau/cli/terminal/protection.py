"""What is wrong with the TLS of a broker, or with a login there, seen from a client."""

import asyncio
import datetime as dt
import ssl
from collections.abc import Sequence
from contextlib import suppress

from moldau.client.admin.finding import Finding
from moldau.client.connection.addresses import Address
from moldau.client.connection.opening import Opener
from moldau.client.connection.refusal import SecurityRefused, why
from moldau.client.metrics import ConnectionTraffic
from moldau.client.security_settings import OAUTHBEARER
from moldau.client.settings import ClientSettings
from moldau.errors import (
    IllegalSaslState,
    KafkaError,
    SaslAuthenticationFailed,
    UnsupportedSaslMechanism,
)
from moldau.protocol.messages.metadata import MetadataRequest, MetadataResponse
from moldau.runtime.clock import SystemClock
from moldau.security.certificates import CertificateFacts, read_certificate
from moldau.security.oauthbearer import TokenRefused
from moldau.security.tls import client_context, own_store
from moldau.security.web_tokens import read_token

_PROBE_S = 5.0
_METADATA = 3
_SOON = dt.timedelta(days=30)
# What OpenSSL calls it; verify(1) has the list.
_NOT_YET_VALID, _EXPIRED = 9, 10
_OTHER_HOST = (62, 64)
_CLOCKS = "If that is not so, the clock of this machine is wrong: set it by NTP."


async def examine(
    settings: ClientSettings, addresses: Sequence[Address], *, now_ms: int
) -> list[Finding]:
    """Findings for each address, about what is between a connection and the first request."""
    now = dt.datetime.fromtimestamp(now_ms / 1000, dt.UTC)
    findings = own_certificate(settings, now) if settings.uses_tls else []
    findings += own_token(settings, now) if settings.uses_sasl else []
    for address in addresses:
        found = await _examine_tls(settings, address, now)
        if all(each.is_well for each in found):
            found += await _examine_login(settings, address)
        findings += found
    return findings


def own_certificate(settings: ClientSettings, now: dt.datetime) -> list[Finding]:
    """That of the client, if it has one."""
    store = own_store(settings.tls)
    if store is None:
        return []
    facts = read_certificate(store.own_certificate)
    return [validity(f"this client's certificate, of {facts.owner},", facts, now)]


def own_token(settings: ClientSettings, now: dt.datetime) -> list[Finding]:
    """The bearer token, if it is in the settings; what it says is not repeated."""
    if settings.sasl_mechanism.upper() != OAUTHBEARER or not settings.sasl_oauthbearer_token:
        return []
    try:
        expiry = read_token(settings.sasl_oauthbearer_token).claims.get("exp")
    except TokenRefused:
        return [Finding(False, "sasl.oauthbearer.token is no token", "Ask your provider for one.")]
    if not isinstance(expiry, int | float):
        return []
    end = dt.datetime.fromtimestamp(expiry, dt.UTC)
    if end <= now:
        text = f"the bearer token expired on {_date(end)}; it is {_date(now)} here"
        return [Finding(False, text, f"Ask your provider for a new one. {_CLOCKS}")]
    return [Finding(True, f"the bearer token is valid until {_date(end)}")]


def validity(whose: str, facts: CertificateFacts, now: dt.datetime) -> Finding:
    """Whether a certificate is valid by the clock of this machine."""
    if now > facts.valid_until:
        text = f"{whose} expired on {_date(facts.valid_until)}; it is {_date(now)} here"
        return Finding(False, text, f"Its owner needs a new one. {_CLOCKS}")
    if now < facts.valid_from:
        text = f"{whose} is valid only from {_date(facts.valid_from)}; it is {_date(now)} here"
        return Finding(
            False, text, "The clocks differ: set them by NTP, here and where it is from."
        )
    text = f"{whose} is valid until {_date(facts.valid_until)}"
    is_soon = facts.valid_until - now < _SOON
    return Finding(True, text, "Renew it soon." if is_soon else "")


async def _examine_tls(
    settings: ClientSettings, address: Address, now: dt.datetime
) -> list[Finding]:
    certificate = await _shown_certificate(address)
    protocol = settings.security_protocol.upper()
    if certificate is None:
        if not settings.uses_tls:
            return []
        other = "SASL_PLAINTEXT" if settings.uses_sasl else "PLAINTEXT"
        return [
            Finding(
                False,
                f"{address} does not speak TLS, and security.protocol is {protocol}",
                f"Name the port of a listener with TLS; with {other} all could be read on the way.",
            )
        ]
    if not settings.uses_tls:
        wanted = "SASL_SSL" if settings.uses_sasl else "SSL or SASL_SSL"
        text = f"{address} speaks TLS, and security.protocol is {protocol}"
        return [Finding(False, text, f"Set security.protocol={wanted} in --command-config.")]
    try:
        facts = read_certificate(certificate)
    except ValueError as error:
        return [Finding(False, f"{address} has a certificate that cannot be read: {error}")]
    found = [validity(f"the certificate of {address}, of {facts.owner},", facts, now)]
    if found[0].is_well:
        found.append(await _examine_trust(settings, address, facts))
    return found


async def _examine_trust(
    settings: ClientSettings, address: Address, facts: CertificateFacts
) -> Finding:
    """Whether this client takes the certificate for that of the host, by a trusted authority."""
    try:
        await _handshake(address, client_context(settings.tls))
    except ssl.SSLCertVerificationError as error:
        return untrusted(address, facts, error.verify_code, error.verify_message)
    except (OSError, TimeoutError) as error:
        text = f"{address}: the TLS handshake failed: {why(error)}"
        advice = "Compare ssl.enabled.protocols and ssl.cipher.suites with those of the broker."
        return Finding(False, text, advice)
    return Finding(True, f"the certificate of {address} is trusted, and is for {address.host}")


def untrusted(address: Address, facts: CertificateFacts, code: int, message: str) -> Finding:
    """Why a certificate that is valid today is not trusted."""
    if code in _OTHER_HOST:
        hosts = ", ".join(facts.hosts) or "no host at all"
        return Finding(
            False,
            f"the certificate of {address} is for {hosts}, not for {address.host}",
            "Connect by a name that it has, or give the broker one that has this name.",
        )
    if code in (_EXPIRED, _NOT_YET_VALID):
        text = f"one of the authorities of {address} is not valid now: {message}"
        return Finding(False, text, f"It needs a new certificate. {_CLOCKS}")
    return Finding(
        False,
        f"the certificate of {address} is by no authority that this client trusts: {message}",
        "Set ssl.truststore.location to a file with the certificate of its authority.",
    )


async def _examine_login(settings: ClientSettings, address: Address) -> list[Finding]:
    try:
        opener = Opener(settings, SystemClock())
        broker = await opener.open(address, ConnectionTraffic())
        # Where a login is wanted, versions are given without one, and nothing else is.
        version = broker.versions.newest(_METADATA)
        request = MetadataRequest(topics=[])
        try:
            await broker.connection.ask(request, MetadataResponse, version, timeout_s=_PROBE_S)
        finally:
            broker.connection.close()
    except KafkaError as error:
        return [refusal(settings, address, error)]
    if not settings.uses_sasl:
        return []
    return [Finding(True, f"{address} lets this client in by {settings.sasl_mechanism.upper()}")]


def refusal(settings: ClientSettings, address: Address, error: KafkaError) -> Finding:
    """What a broker meant that did not let the client in."""
    mechanism = settings.sasl_mechanism.upper()
    if isinstance(error, UnsupportedSaslMechanism):
        return Finding(False, str(error), "Set sasl.mechanism to one that it offers.")
    if isinstance(error, IllegalSaslState):
        protocol = "SSL" if settings.uses_tls else "PLAINTEXT"
        text = f"{address} wants no login, and security.protocol is {settings.security_protocol}"
        advice = f"Set security.protocol={protocol}, or name the port of a SASL listener."
        return Finding(False, text, advice)
    if isinstance(error, SaslAuthenticationFailed):
        return Finding(False, f"the login failed: {error}", _LOGIN_ADVICE.get(mechanism, _SCRAM))
    if isinstance(error, SecurityRefused):
        advice = (
            "If it wants a certificate of clients, set ssl.keystore.location to one by an "
            "authority that the broker trusts."
        )
        return Finding(False, str(error), advice)
    advice = "Is it a SASL listener? Set security.protocol and sasl.mechanism as it wants them."
    return Finding(False, f"{address} accepts connections and answers nothing: {error}", advice)


_SCRAM = (
    "Is the user one of `moldau users list`, for this mechanism, and the password right? "
    "Brokers do not say which of the two is wrong."
)
_LOGIN_ADVICE = {
    "PLAIN": (
        "Is there an option user_NAME in sasl.jaas.config of the broker's listener, and the "
        "password the same? Brokers do not say which of the two is wrong."
    ),
    OAUTHBEARER: (
        "Compare issuer, audience and scope of the token with the broker's "
        "sasl.oauthbearer.expected.*; its log says more. Clocks may differ by "
        "sasl.oauthbearer.clock.skew.seconds."
    ),
}


async def _shown_certificate(address: Address) -> bytes | None:
    """The certificate of a port that speaks TLS, trusted or not; None if it does not."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        return await _handshake(address, context)
    except (OSError, TimeoutError):
        return None


async def _handshake(address: Address, context: ssl.SSLContext) -> bytes:
    """Shake hands, hang up, and say which certificate was shown."""
    async with asyncio.timeout(_PROBE_S):
        _, writer = await asyncio.open_connection(
            address.host, address.port, ssl=context, server_hostname=address.host
        )
    shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.transport.abort()
    with suppress(OSError):
        await writer.wait_closed()
    return bytes(shown or b"")


def _date(moment: dt.datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
