"""Clients and tools of others log in to our broker, by everything that they speak.

One broker for all: certificates on one listener, passwords and tokens over TLS on another, and a
third where sessions are short. Access rules are on, so that who a client is taken for matters.
"""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import aiokafka
import confluent_kafka
import kafka
import pytest
from aiokafka.helpers import create_ssl_context
from kafka.net.sasl.oauth import AbstractTokenProvider

from certificates import Identity, authority, identity
from conformance.apache.lines import JavaProgram
from conformance.apache.marks import needs_apache
from conformance.apache.tools import ApacheTools
from conformance.clients.programs import go_program, node_program
from conformance.clients.talking import talking
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
            "password": {"OAUTHBEARER": bearer(), TOKEN: self.token_password}.get(way, "sesam"),
            "is_token": way == TOKEN,
            "trust": self.ca.certificate_pem,
            "certificate": self.anna.certificate_pem if way == CERTIFICATE else "",
            "key": self.anna.key_pem() if way == CERTIFICATE else "",
        }


def bearer() -> str:
    claim = {"unsecuredLoginStringClaim_sub": "anna"}
    return unsecured_token(claim, now_ms=int(time.time() * 1000))


def settings(folder: Path) -> dict[str, str]:
    users = 'username="admin" password="x" user_admin="x" user_anna="sesam"'
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
        "delegation.token.secret.key": "of all",
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
    with running_broker(settings(folder)) as broker:
        made = Secured(broker, folder, ca, anna)
        token = asyncio.run(admit_anna(made))
        yield replace(made, token_id=token.token_id, token_password=token.password)


async def admit_anna(secured: Secured) -> DelegationToken:
    """Give Anna passwords, rights, and a delegation token."""
    async with Admin(by_password(secured, "admin", "x")) as admin:
        wanted = [ScramPassword("anna", "sesam", mechanism) for mechanism in SCRAM]
        (await admin.alter_user_scram_credentials(wanted)).check()
        (await admin.create_acls([*rules("anna")])).check()
    async with Admin(by_password(secured, "anna", "sesam")) as own:
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


@pytest.mark.parametrize("way", WAYS)
def test_librdkafka_logs_in(secured: Secured, way: str) -> None:
    own: dict[str, Any] = {"bootstrap.servers": secured.servers(way)}
    if way == CERTIFICATE:
        own |= {"security.protocol": "SSL", "ssl.certificate.location": secured.own}
        own |= {"ssl.key.location": secured.own}
    else:
        own |= {"security.protocol": "SASL_SSL", "sasl.mechanism": way}
    if way == "OAUTHBEARER":
        own["oauth_cb"] = lambda _: (bearer(), time.time() + 600)
    elif way in MECHANISMS:
        own |= {"sasl.username": "anna", "sasl.password": "sesam"}
    producer = confluent_kafka.Producer({"ssl.ca.location": secured.trust, **own})
    producer.produce("librdkafka", b"value")
    assert producer.flush(20) == 0


def python_options(secured: Secured, way: str) -> dict[str, Any]:
    """For kafka-python and aiokafka, as far as they agree."""
    own: dict[str, Any] = {"bootstrap_servers": secured.servers(way)}
    if way == CERTIFICATE:
        return {**own, "security_protocol": "SSL"}
    own |= {"security_protocol": "SASL_SSL", "sasl_mechanism": way}
    if way != "OAUTHBEARER":
        own |= {"sasl_plain_username": "anna", "sasl_plain_password": "sesam"}
    return own


@pytest.mark.parametrize("way", WAYS)
def test_kafka_python_logs_in(secured: Secured, way: str) -> None:
    class Provider(AbstractTokenProvider):  # type: ignore[misc]
        def token(self) -> str:
            return bearer()

    own = python_options(secured, way)
    if way == CERTIFICATE:
        own |= {"ssl_certfile": secured.own, "ssl_keyfile": secured.own}
    if way == "OAUTHBEARER":
        own["sasl_oauth_token_provider"] = Provider()
    producer = kafka.KafkaProducer(ssl_cafile=secured.trust, **own)
    assert producer.send("kafka-python", b"value").get(20).offset >= 0
    producer.close()


@pytest.mark.parametrize("way", WAYS)
async def test_aiokafka_logs_in(secured: Secured, way: str) -> None:
    class Provider(aiokafka.abc.AbstractTokenProvider):  # type: ignore[misc]
        async def token(self) -> str:
            return bearer()

    own = python_options(secured, way)
    if way == "OAUTHBEARER":
        own["sasl_oauth_token_provider"] = Provider()
    key = secured.own if way == CERTIFICATE else None
    context = create_ssl_context(cafile=secured.trust, certfile=key, keyfile=key)
    producer = aiokafka.AIOKafkaProducer(ssl_context=context, **own)
    await producer.start()
    try:
        assert (await producer.send_and_wait("aiokafka", b"value")).offset >= 0
    finally:
        await producer.stop()


ROW: dict[str, object] = {"timestamp_ms": 1, "key": None, "value": "eA==", "headers": []}


@pytest.mark.needs("go")
def test_franz_go_logs_in(secured: Secured) -> None:
    with talking(go_program("franz")) as ask:
        for way in (*WAYS, TOKEN):
            request = {
                "bootstrap": secured.servers(way),
                "topic": f"franz-{way.replace(' ', '-')}",
                "codec": "none",
                "rows": [ROW],
                "count": 1,
                "login": secured.login(way),
            }
            assert ask(request) == [ROW], way


@pytest.mark.needs("node", "npm")
def test_kafkajs_logs_in(secured: Secured) -> None:
    with talking(node_program("kafkajs")) as ask:
        for way in WAYS:
            request = {
                "bootstrap": secured.servers(way),
                "topic": f"kafkajs-{way}",
                "codec": "none",
                "idempotent": False,
                "rows": [[1, None, "eA==", []]],
                "login": secured.login(way),
            }
            assert ask(request)["end_offset"] == 1, way


def java_settings(secured: Secured, way: str) -> dict[str, str]:
    own = {"ssl.truststore.type": "PEM", "ssl.truststore.location": secured.trust}
    if way == CERTIFICATE:
        stores = {"ssl.keystore.type": "PEM", "ssl.keystore.location": secured.own}
        return {**own, "security.protocol": "SSL", **stores}
    user = 'username="anna" password="sesam"'
    module, options = {
        "PLAIN": (PLAIN, user),
        "OAUTHBEARER": (
            f"{KAFKA}.oauthbearer.OAuthBearerLoginModule",
            'unsecuredLoginStringClaim_sub="anna"',
        ),
        TOKEN: (
            f"{KAFKA}.scram.ScramLoginModule",
            f'username="{secured.token_id}" password="{secured.token_password}" tokenauth="true"',
        ),
    }.get(way, (f"{KAFKA}.scram.ScramLoginModule", user))
    return {
        **own,
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": SCRAM[1] if way == TOKEN else way,
        "sasl.jaas.config": f"{module} required {options};",
    }


@pytest.fixture(scope="module")
def java() -> Iterator[JavaProgram]:
    with JavaProgram("traffic", "kafka-3.9") as program:
        yield program


def produced(java: JavaProgram, servers: str, producer: str, settings: dict[str, str]) -> int:
    offset: int = java.call(
        "produce",
        bootstrap=servers,
        topic="java",
        partition=0,
        producer=producer,
        settings=settings,
        records=[[1, None, b"value", []]],
    )
    return offset


@needs_apache("kafka-3.9")
@pytest.mark.parametrize("way", [*WAYS, TOKEN])
def test_java_logs_in(secured: Secured, java: JavaProgram, way: str) -> None:
    assert produced(java, secured.servers(way), way, java_settings(secured, way)) >= 0


@needs_apache("kafka-3.9")
def test_java_logs_in_again_on_the_same_connection(secured: Secured, java: JavaProgram) -> None:
    own = {**java_settings(secured, "PLAIN"), "security.protocol": "SASL_PLAINTEXT"}
    deadline_s = time.monotonic() + 20
    while not renewed(secured) and time.monotonic() < deadline_s:
        assert produced(java, secured.short_sessions, "renewed", own) >= 0
    assert renewed(secured) >= 1
    assert count_of(secured, "expired_connections_killed_count") == 0


def renewed(secured: Secured) -> int:
    return count_of(secured, "successful_reauthentication_total")


def count_of(secured: Secured, name: str) -> int:
    """What a metric of the listener with short sessions counts."""
    text = secured.broker.look(lambda broker: broker.metrics.text())
    lines = [line for line in text.splitlines() if f"{name}{{" in line]
    return sum(int(each.rpartition(" ")[2]) for each in lines if '"SASL_PLAINTEXT"' in each)


@needs_apache("kafka-3.9")
def test_apache_s_tools_make_users_tokens_and_rules(
    secured: Secured, tools: ApacheTools, tmp_path: Path
) -> None:
    login = tmp_path / "admin.properties"
    jaas = f'{PLAIN} required username="admin" password="x";'
    lines = {**java_settings(secured, "PLAIN"), "sasl.jaas.config": jaas}
    login.write_text("\n".join(f"{name}={value}" for name, value in lines.items()))
    common = ("--bootstrap-server", secured.servers(), "--command-config", str(login))
    user = (*common, "--entity-type", "users", "--entity-name", "ben")
    made = tools.run(
        "kafka-configs.sh", *user, "--alter", "--add-config", "SCRAM-SHA-256=[password=geheim]"
    )
    assert "Completed updating config for user ben." in made.stdout
    shown = tools.run("kafka-configs.sh", *user, "--describe")
    expected = "SCRAM credential configs for user-principal 'ben' are SCRAM-SHA-256=iterations="
    assert expected in shown.stdout
    token = tools.run(
        "kafka-delegation-tokens.sh", *common, "--create", "--max-life-time-period", "-1"
    )
    assert "Created delegation token with tokenId" in token.stdout
    rule = ("--topic", "bens", "--resource-pattern-type", "prefixed")
    added = tools.run(
        "kafka-acls.sh", *common, "--add", "--allow-principal", "User:ben", "--producer", *rule
    )
    assert "Adding ACLs for resource" in added.stdout, added.stderr
    listed = tools.run("kafka-acls.sh", *common, "--list", "--principal", "User:ben")
    assert "name=bens, patternType=PREFIXED" in listed.stdout
    assert "operation=WRITE, permissionType=ALLOW" in listed.stdout
    tools.run(
        "kafka-acls.sh",
        *common,
        "--remove",
        "--force",
        "--allow-principal",
        "User:ben",
        "--producer",
        *rule,
    )
    gone = tools.run("kafka-acls.sh", *common, "--list", "--principal", "User:ben")
    assert "patternType=PREFIXED" not in gone.stdout
