"""A broker that wants logins of every kind, and clients that have them."""

import time
from collections.abc import Mapping

from moldau.security.web_tokens import unsecured_token

KAFKA = "org.apache.kafka.common.security"
PLAIN = f"{KAFKA}.plain.PlainLoginModule"
SCRAM = f"{KAFKA}.scram.ScramLoginModule"
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
ADMIN, ADMIN_PASSWORD = "admin", "of-the-admin-7531"
ANNA, ANNA_PASSWORD = "anna", "sesam-4242-öffne-dich"
TOKEN_SECRET = "signs-all-tokens-8642"
JAAS = "sasl.jaas.config"
PREFIX = "listener.name.sasl_plaintext"


def settings(inter_broker: str = "PLAIN", **more: str) -> dict[str, str]:
    """Those of a broker with one listener, where everybody logs in."""
    own = f'username="{ADMIN}" password="{ADMIN_PASSWORD}"'
    return {
        "listeners": "SASL_PLAINTEXT://127.0.0.1:0",
        "security.inter.broker.protocol": "SASL_PLAINTEXT",
        "sasl.enabled.mechanisms": ",".join(MECHANISMS),
        "sasl.mechanism.inter.broker.protocol": inter_broker,
        f"{PREFIX}.plain.{JAAS}": (
            f'{PLAIN} required {own} user_{ADMIN}="{ADMIN_PASSWORD}" user_{ANNA}="{ANNA_PASSWORD}";'
        ),
        f"{PREFIX}.scram-sha-256.{JAAS}": f"{SCRAM} required {own};",
        f"{PREFIX}.scram-sha-512.{JAAS}": f"{SCRAM} required {own};",
        f"{PREFIX}.oauthbearer.{JAAS}": (
            f"{KAFKA}.oauthbearer.OAuthBearerLoginModule required "
            f'unsecuredLoginStringClaim_sub="{ADMIN}";'
        ),
        "moldau.oauthbearer.allow.unsecured.tokens": "true",
        "delegation.token.secret.key": TOKEN_SECRET,
        "connection.failed.authentication.delay.ms": "1",
        **{name.replace("_", "."): value for name, value in more.items()},
    }


def client(
    servers: str, mechanism: str, user: str = ANNA, password: str = ANNA_PASSWORD
) -> dict[str, str]:
    """Settings of a client that logs in, as a file has them."""
    own = {"sasl.username": user, "sasl.password": password}
    if mechanism == "OAUTHBEARER":
        claim = {"unsecuredLoginStringClaim_sub": user}
        own = {"sasl.oauthbearer.token": unsecured_token(claim, now_ms=int(time.time() * 1000))}
    return {
        "bootstrap.servers": servers,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        **own,
    }


def as_properties(settings: Mapping[str, str]) -> str:
    """The settings as the lines of a file."""
    return "\n".join(
        f"{name}={value.encode('unicode_escape').decode()}" for name, value in settings.items()
    )
