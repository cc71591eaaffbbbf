"""A broker that lets in by everything: for clients and tools of all kinds that log in.

Certificates on one listener, passwords and tokens over TLS on another, and a third where sessions
are short. Access rules are on, so that who a client is taken for matters. Everything is logged
meanwhile, and no secret may be in it.
"""

import asyncio
import base64
import io
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from certificates import Identity, authority, identity
from moldau import Admin
from moldau.client.admin.tokens import DelegationToken
from moldau.client.admin.users import ScramPassword
from moldau.security.acls import Acl, Operation, ResourceType
from moldau.security.web_tokens import unsecured_token
from moldau.testing.broker import EmbeddedBroker, running_broker

KAFKA = "org.apache.kafka.common.security"
PLAIN = f"{KAFKA}.plain.PlainLoginModule"
SCRAM = ("SCRAM-SHA-256", "SCRAM-SHA-512")
MECHANISMS = ("PLAIN", *SCRAM, "OAUTHBEARER")
CERTIFICATE = "certificate"
TOKEN = "delegation token"
WAYS = (*MECHANISMS, CERTIFICATE)
REAUTHENTICATION_MS = 1000
ADMIN_PASSWORD, ANNA_PASSWORD, BENS_PASSWORD = "of-the-admin", "sesam", "of-ben"
SIGNS_TOKENS = "signs-all-tokens"


@dataclass(frozen=True, slots=True)
class Secured:
    """A broker with its listeners, and what Anna has to be let in."""

    broker: EmbeddedBroker
    folder: Path
    ca: Identity
    anna: Identity
    token_id: str = ""
    token_password: str = ""

    def servers(self, way: str = "") -> str:
        listener = "SSL" if way == CERTIFICATE else "SASL_SSL"
        return f"127.0.0.1:{self.broker.running.ports[listener]}"

    @property
    def short_sessions(self) -> str:
        return f"127.0.0.1:{self.broker.running.ports['SASL_PLAINTEXT']}"

    @property
    def trust(self) -> str:
        return str(self.folder / "ca.pem")

    @property
    def own(self) -> str:
        return str(self.folder / "anna.pem")

    def login(self, way: str) -> dict[str, object]:
        """What the programs in Go and JavaScript want to know."""
        return {
            "mechanism": {CERTIFICATE: "", TOKEN: SCRAM[0]}.get(way, way),
            "user": self.token_id if way == TOKEN else "anna",
            "password": {"OAUTHBEARER": bearer(), TOKEN: self.token_password}.get(
                way, ANNA_PASSWORD
            ),
            "is_token": way == TOKEN,
            "trust": self.ca.certificate_pem,
            "certificate": self.anna.certificate_pem if way == CERTIFICATE else "",
            "key": self.anna.key_pem() if way == CERTIFICATE else "",
        }


def bearer() -> str:
    claim = {"unsecuredLoginStringClaim_sub": "anna"}
    return unsecured_token(claim, now_ms=int(time.time() * 1000))


def settings(folder: Path) -> dict[str, str]:
    own = f'username="admin" password="{ADMIN_PASSWORD}"'
    users = f'{own} user_admin="{ADMIN_PASSWORD}" user_anna="{ANNA_PASSWORD}"'
    unsigned = f"{KAFKA}.oauthbearer.OAuthBearerLoginModule required"
    ports = ("SASL_PLAINTEXT", "SASL_SSL", "SSL")
    return {
        "listeners": ",".join(f"{name}://127.0.0.1:0" for name in ports),
        "security.inter.broker.protocol": "SASL_PLAINTEXT",
        "sasl.enabled.mechanisms": ",".join(MECHANISMS),
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        **{
            f"listener.name.{name}.{mechanism}.sasl.jaas.config": module
            for name in ("sasl_plaintext", "sasl_ssl")
            for mechanism, module in (
                ("plain", f"{PLAIN} required {users};"),
                ("oauthbearer", f'{unsigned} unsecuredLoginStringClaim_sub="admin";'),
            )
        },
        "listener.name.sasl_plaintext.connections.max.reauth.ms": str(REAUTHENTICATION_MS),
        "moldau.oauthbearer.allow.unsecured.tokens": "true",
        "delegation.token.secret.key": SIGNS_TOKENS,
        "ssl.keystore.location": str(folder / "broker.pem"),
        "ssl.truststore.location": str(folder / "ca.pem"),
        "ssl.client.auth": "required",
        "ssl.principal.mapping.rules": "RULE:^CN=(.*)$/$1/",
        "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
        "super.users": "User:admin",
    }


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    folder, ca = tmp_path_factory.mktemp("keys"), authority()
    anna = identity(ca, "anna")
    (folder / "ca.pem").write_text(ca.certificate_pem)
    identity(ca, "broker").write(folder / "broker.pem")
    anna.write(folder / "anna.pem")
    with everything_logged() as log, running_broker(settings(folder)) as broker:
        made = Secured(broker, folder, ca, anna)
        token = asyncio.run(admit_anna(made))
        yield replace(made, token_id=token.token_id, token_password=token.password)
    told = log.getvalue()
    assert "moldau" in told
    secrets = (
        ADMIN_PASSWORD,
        ANNA_PASSWORD,
        BENS_PASSWORD,
        SIGNS_TOKENS,
        token.password,
        "PRIVATE",
    )
    for secret in (*secrets, *keys_of(broker)):
        assert secret not in told, f"the log has {secret}"


@contextmanager
def everything_logged() -> Iterator[io.StringIO]:
    """By the broker and our own clients, which are in this process; others' clients are as well."""
    text, root = io.StringIO(), logging.getLogger()
    handler, before = logging.StreamHandler(text), root.level
    handler.setFormatter(logging.Formatter("%(name)s %(message)s"))
    handler.addFilter(lambda record: record.name.startswith(("moldau", "kafka.authorizer")))
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield text
    finally:
        root.setLevel(before)
        root.removeHandler(handler)


def keys_of(broker: EmbeddedBroker) -> Iterator[str]:
    """What is kept of passwords, as texts have it."""
    for secrets in broker.running.broker.users._secrets.values():
        for secret in secrets.values():
            for key in (secret.stored_key, secret.server_key):
                yield base64.b64encode(key).decode()


async def admit_anna(secured: Secured) -> DelegationToken:
    """Give Anna passwords, rights, and a delegation token."""
    async with Admin(by_password(secured, "admin", ADMIN_PASSWORD)) as admin:
        wanted = [ScramPassword("anna", ANNA_PASSWORD, mechanism) for mechanism in SCRAM]
        (await admin.alter_user_scram_credentials(wanted)).check()
        (await admin.create_acls([*rules("anna")])).check()
    async with Admin(by_password(secured, "anna", ANNA_PASSWORD)) as own:
        return await own.create_delegation_token()


def rules(user: str) -> Iterator[Acl]:
    for kind in (ResourceType.TOPIC, ResourceType.GROUP):
        yield Acl(
            resource_type=kind,
            resource_name="*",
            principal=f"User:{user}",
            operation=Operation.ALL,
        )


def by_password(secured: Secured, user: str, password: str) -> dict[str, object]:
    return {
        "bootstrap.servers": secured.servers(),
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.username": user,
        "sasl.password": password,
        "ssl.truststore.location": secured.trust,
    }


def own_settings(secured: Secured, way: str) -> dict[str, str]:
    """What our own clients and command lines are given."""
    own = {"bootstrap.servers": secured.servers(way), "ssl.truststore.location": secured.trust}
    if way == CERTIFICATE:
        return {**own, "security.protocol": "SSL", "ssl.keystore.location": secured.own}
    own["security.protocol"] = "SASL_SSL"
    own["sasl.mechanism"] = SCRAM[0] if way == TOKEN else way
    if way == "OAUTHBEARER":
        return {**own, "sasl.oauthbearer.token": bearer()}
    if way == TOKEN:
        own["sasl.tokenauth"] = "true"
        return {**own, "sasl.username": secured.token_id, "sasl.password": secured.token_password}
    return {**own, "sasl.username": "anna", "sasl.password": ANNA_PASSWORD}
