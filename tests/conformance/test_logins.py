"""Clients and tools of others log in to our broker, by everything that they speak."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiokafka
import confluent_kafka
import kafka
import pytest
from aiokafka.helpers import create_ssl_context
from kafka.net.sasl.oauth import AbstractTokenProvider

from conformance.apache.lines import JavaProgram
from conformance.apache.marks import needs_apache
from conformance.apache.tools import ApacheTools
from conformance.clients.programs import go_program, node_program
from conformance.clients.talking import talking
from conformance.known_logins import (
    ADMIN_PASSWORD,
    ANNA_PASSWORD,
    BENS_PASSWORD,
    CERTIFICATE,
    KAFKA,
    MECHANISMS,
    PLAIN,
    SCRAM,
    TOKEN,
    WAYS,
    Secured,
    bearer,
    own_settings,
    secured,
)
from unit.cli.command import run

__all__ = ["secured"]  # the broker of all


@pytest.mark.parametrize("way", [*WAYS, TOKEN])
def test_our_command_lines_log_in(secured: Secured, way: str, tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    own, topic = own_settings(secured, way), f"commands-{way.replace(' ', '-')}"
    file.write_text("".join(f"{name}={value}\n" for name, value in own.items()))
    where = ("--bootstrap-server", secured.servers(way), "--command-config", str(file))
    assert run("topics", *where, "--create", "--topic", topic).code == 0
    assert topic in run("topics", *where, "--list").stdout.split()
    wrong = {**own, "sasl.password": "wrong", "sasl.oauthbearer.token": "a.b.c"}
    if way != CERTIFICATE:
        file.write_text("".join(f"{name}={value}\n" for name, value in wrong.items()))
        refused = run("topics", *where, "--list")
        assert refused.code != 0
        assert "Traceback" not in refused.stderr


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
        own |= {"sasl.username": "anna", "sasl.password": ANNA_PASSWORD}
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
        own |= {"sasl_plain_username": "anna", "sasl_plain_password": ANNA_PASSWORD}
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
    user = f'username="anna" password="{ANNA_PASSWORD}"'
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
    jaas = f'{PLAIN} required username="admin" password="{ADMIN_PASSWORD}";'
    lines = {**java_settings(secured, "PLAIN"), "sasl.jaas.config": jaas}
    login.write_text("\n".join(f"{name}={value}" for name, value in lines.items()))
    common = ("--bootstrap-server", secured.servers(), "--command-config", str(login))
    user = (*common, "--entity-type", "users", "--entity-name", "ben")
    made = tools.run(
        "kafka-configs.sh",
        *user,
        "--alter",
        "--add-config",
        f"SCRAM-SHA-256=[password={BENS_PASSWORD}]",
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
