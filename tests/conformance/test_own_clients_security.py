"""Our own clients with TLS and SASL, against Apache Kafka."""

import asyncio
import base64
import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from certificates import Identity, authority, identity
from conformance.apache.broker import apache_broker, free_port
from conformance.apache.marks import needs_apache
from moldau import Admin, Consumer, Producer
from moldau.client.admin.topics import NewTopic
from moldau.client.admin.users import ScramDeletion, ScramPassword
from moldau.errors import (
    KafkaError,
    NetworkException,
    SaslAuthenticationFailed,
    TopicAuthorizationFailed,
)
from moldau.model import TopicPartition
from moldau.security.acls import Acl, AclFilter, Operation, ResourceType

pytestmark = needs_apache("kafka-3.9")

SCRAM = ("SCRAM-SHA-256", "SCRAM-SHA-512")
MODULES = "org.apache.kafka.common.security"
TOKEN_MASTER = "of all tokens"
REAUTHENTICATION_MS = 1500


@dataclass(frozen=True, slots=True)
class Secured:
    """Where a broker with several doors listens."""

    tls: str
    sasl: str
    plain: str = ""


@pytest.fixture(scope="module")
def ca() -> Identity:
    return authority()


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory, ca: Identity) -> Iterator[Secured]:
    """A broker that lets in whoever has a certificate, a password or a token, all over TLS."""
    directory = tmp_path_factory.mktemp("secured")
    store = identity(ca, "broker").write(directory / "broker.pem")
    trusted = directory / "ca.pem"
    trusted.write_text(ca.certificate_pem)
    secured = Secured(f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}")
    settings = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": store,
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(trusted),
        "ssl.client.auth": "requested",
        "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
        "super.users": "User:ANONYMOUS;User:admin;User:CN=admin",
        "delegation.token.secret.key": TOKEN_MASTER,
        "auto.create.topics.enable": "true",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
        "listener.name.sasl_ssl.plain.sasl.jaas.config": (
            f'{MODULES}.plain.PlainLoginModule required user_admin="secret" user_anna="sesam";'
        ),
        **{
            f"listener.name.sasl_ssl.{mechanism.lower()}.sasl.jaas.config": (
                f"{MODULES}.scram.ScramLoginModule required;"
            )
            for mechanism in SCRAM
        },
        "listener.name.sasl_ssl.oauthbearer.sasl.jaas.config": (
            f"{MODULES}.oauthbearer.OAuthBearerLoginModule required "
            'unsecuredLoginStringClaim_sub="unused";'
        ),
        "listener.name.sasl_ssl.plain.connections.max.reauth.ms": str(REAUTHENTICATION_MS),
    }
    with apache_broker(directory, settings) as broker:
        doors = f"PLAINTEXT://{broker.bootstrap},SSL://{secured.tls},SASL_SSL://{secured.sasl}"
        broker.settings = {**settings, "listeners": doors}
        broker.start()
        yield replace(secured, plain=broker.bootstrap)


def sasl(broker: Secured, ca: Identity, mechanism: str, **settings: str) -> dict[str, object]:
    return {
        "bootstrap.servers": broker.sasl,
        "security.protocol": "SASL_SSL",
        "ssl.truststore.certificates": ca.certificate_pem,
        "sasl.mechanism": mechanism,
        "request.timeout.ms": "10000",
        **{name.replace("_", "."): value for name, value in settings.items()},
    }


def as_admin(broker: Secured, ca: Identity) -> dict[str, object]:
    return sasl(broker, ca, "PLAIN", sasl_username="admin", sasl_password="secret")


async def there_and_back(options: dict[str, object], topic: str) -> None:
    async with Producer[bytes, bytes](options) as producer:
        place = await producer.send_and_wait(topic, b"value")
    async with Consumer[bytes, bytes](options, group_id="", auto_offset_reset="earliest") as reader:
        reader.assign([TopicPartition(topic, place.partition)])
        reader.seek(TopicPartition(topic, place.partition), place.offset)
        async with asyncio.timeout(20):
            assert (await anext(reader)).value == b"value"


async def allow(broker: Secured, ca: Identity, principal: str) -> None:
    rules = [
        Acl(resource_type=kind, resource_name=name, principal=principal, operation=operation)
        for kind, name, operation in (
            (ResourceType.TOPIC, "*", Operation.ALL),
            (ResourceType.GROUP, "*", Operation.ALL),
            (ResourceType.CLUSTER, "kafka-cluster", Operation.ALL),
        )
    ]
    async with Admin(as_admin(broker, ca)) as admin:
        (await admin.create_acls(rules)).check()


@pytest.mark.parametrize(
    ("door", "protocol", "reason"),
    [
        ("tls", "PLAINTEXT", "answers in TLS; is it an SSL listener"),
        ("sasl", "PLAINTEXT", "answers in TLS; is it an SSL listener"),
        ("sasl", "SSL", "check that security.protocol is that of the port"),
        ("plain", "SSL", "TLS handshake; is it a PLAINTEXT listener"),
        ("plain", "SASL_SSL", "TLS handshake; is it a PLAINTEXT listener"),
    ],
)
async def test_the_wrong_door_is_named(
    secured: Secured, ca: Identity, door: str, protocol: str, reason: str
) -> None:
    options = as_admin(secured, ca) | {"default.api.timeout.ms": 1, "security.protocol": protocol}
    options["bootstrap.servers"] = getattr(secured, door)
    with pytest.raises(NetworkException, match=re.escape(reason)):
        await Admin(options).start()


async def test_a_password_over_tls(secured: Secured, ca: Identity) -> None:
    await there_and_back(as_admin(secured, ca), "plain")


async def test_a_certificate_is_an_identity(secured: Secured, ca: Identity, tmp_path: Path) -> None:
    store = identity(ca, "admin").write_pkcs12(tmp_path / "admin.p12", "sesam")
    options: dict[str, object] = {
        "bootstrap.servers": secured.tls,
        "security.protocol": "SSL",
        "ssl.truststore.certificates": ca.certificate_pem,
        "ssl.keystore.location": store,
        "ssl.keystore.password": "sesam",
    }
    await there_and_back(options, "tls")


async def test_a_broker_that_nobody_vouches_for_is_not_trusted(
    secured: Secured,
) -> None:
    options = as_admin(secured, authority())
    with pytest.raises(NetworkException, match="certificate is not trusted"):
        await Admin(options).start()


@pytest.mark.parametrize("mechanism", SCRAM)
async def test_scram_users_come_and_go(secured: Secured, ca: Identity, mechanism: str) -> None:
    user = f"anna-{mechanism[-3:]}"
    async with Admin(as_admin(secured, ca)) as admin:
        password = ScramPassword(user, "sesam", mechanism, 8192)
        (await admin.alter_user_scram_credentials([password])).check()
        described = (await admin.describe_user_scram_credentials(user))[user]
        assert [(each.mechanism, each.iterations) for each in described] == [(mechanism, 8192)]
    await allow(secured, ca, f"User:{user}")
    options = sasl(secured, ca, mechanism, sasl_username=user, sasl_password="sesam")
    await there_and_back(options, f"scram-{mechanism}")
    with pytest.raises(SaslAuthenticationFailed):
        await Admin({**options, "sasl.password": "wrong"}).start()
    async with Admin(as_admin(secured, ca)) as admin:
        (await admin.alter_user_scram_credentials([ScramDeletion(user, mechanism)])).check()
        assert user not in await admin.describe_user_scram_credentials()


def unsecured_token(user: str) -> str:
    """A token that nobody has signed, as Apache's example takes it."""
    now = time.time()
    parts = ({"alg": "none"}, {"sub": user, "iat": now, "exp": now + 600})
    encoded = [base64.urlsafe_b64encode(json.dumps(each).encode()).decode() for each in parts]
    return ".".join(each.rstrip("=") for each in encoded) + "."


async def test_a_bearer_token_is_an_identity(secured: Secured, ca: Identity) -> None:
    options = sasl(secured, ca, "OAUTHBEARER")
    options["sasl.oauthbearer.token.provider"] = lambda: unsecured_token("admin")
    await there_and_back(options, "bearer")
    static = sasl(secured, ca, "OAUTHBEARER", sasl_oauthbearer_token="nonsense")
    with pytest.raises(SaslAuthenticationFailed, match="invalid_token"):
        await Admin(static).start()


async def test_a_delegation_token_stands_for_its_owner(secured: Secured, ca: Identity) -> None:
    async with Admin(as_admin(secured, ca)) as admin:
        token = await admin.create_delegation_token(renewers=["User:anna"])
        assert token.owner == "User:admin"
        found = await wait_for_token(admin, token.token_id)
        assert found == token.token_id
        options = sasl(
            secured,
            ca,
            "SCRAM-SHA-256",
            sasl_username=token.token_id,
            sasl_password=token.password,
            sasl_tokenauth="true",
        )
        await there_and_back(options, "delegated")
        assert await admin.renew_delegation_token(token.hmac) >= token.expires_ms
        await admin.expire_delegation_token(token.hmac)


async def wait_for_token(admin: Admin, token_id: str) -> str:
    async with asyncio.timeout(10):
        while True:
            for token in await admin.describe_delegation_tokens(["User:admin"]):
                if token.token_id == token_id:
                    return token_id


async def test_a_session_is_renewed_on_the_same_connection(secured: Secured, ca: Identity) -> None:
    async with Admin(as_admin(secured, ca)) as admin:
        cluster = admin._lifetime.cluster
        broker = await cluster.broker(1)
        first = broker.session
        until = time.monotonic() + 2 * REAUTHENTICATION_MS / 1000
        while time.monotonic() < until:
            assert await admin.list_topics() is not None
        assert await cluster.broker(1) is broker
        assert broker.connection.is_open
        assert first.renew_at_ms is not None
        assert (broker.session.renew_at_ms or 0) > first.renew_at_ms


async def test_a_jaas_configuration_is_understood(secured: Secured, ca: Identity) -> None:
    module = f'{MODULES}.plain.PlainLoginModule required username="admin" password="secret";'
    async with Admin(sasl(secured, ca, "PLAIN", sasl_jaas_config=module)) as admin:
        assert (await admin.describe_cluster()).controller_id == 1


async def test_what_is_not_allowed_is_an_error_that_says_so(secured: Secured, ca: Identity) -> None:
    async with Admin(as_admin(secured, ca)) as admin:
        await admin.create_topics([NewTopic("closed", 1, 1)])
        assert await admin.describe_acls(AclFilter(principal="User:ben")) == []
    anna = sasl(secured, ca, "PLAIN", sasl_username="anna", sasl_password="sesam")
    async with Producer[bytes, bytes](anna, enable_idempotence=False) as producer:
        with pytest.raises(TopicAuthorizationFailed):
            await producer.send_and_wait("closed", b"v")
    async with Admin(anna) as admin:
        with pytest.raises(TopicAuthorizationFailed):
            (await admin.delete_topics("closed")).check()


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"sasl.password": "wrong"}, SaslAuthenticationFailed),
        ({"sasl.mechanism": "SCRAM-SHA-256"}, SaslAuthenticationFailed),
        ({"security.protocol": "SASL_PLAINTEXT", "request.timeout.ms": "2000"}, NetworkException),
        ({"ssl.endpoint.identification.algorithm": ""}, None),
    ],
)
async def test_what_is_wrong_is_said(
    secured: Secured,
    ca: Identity,
    change: dict[str, object],
    error: type[KafkaError] | None,
) -> None:
    admin = Admin({**as_admin(secured, ca), **change})
    if error is None:
        await admin.start()
        await admin.close()
        return
    with pytest.raises(error):
        await admin.start()
