"""Logins of every kind, by our own clients, at a running broker."""

import base64
import logging
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from moldau import Admin, Consumer, Producer
from moldau.broker.login.logins import login_settings
from moldau.client.admin.users import ScramDeletion, ScramPassword
from moldau.config.broker.startup import read_startup
from moldau.config.properties import decode_properties
from moldau.errors import ErrorCode, KafkaError, SaslAuthenticationFailed
from moldau.model import TopicPartition
from moldau.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from moldau.protocol.messages.sasl_handshake import SaslHandshakeRequest
from moldau.testing.broker import BrokerNotStarted, EmbeddedBroker, running_broker
from moldau.testing.wire import WireClient
from unit.broker.login.secured import (
    ADMIN,
    ADMIN_PASSWORD,
    ANNA,
    ANNA_PASSWORD,
    MECHANISMS,
    TOKEN_SECRET,
    client,
    settings,
)

SCRAM = ("SCRAM-SHA-256", "SCRAM-SHA-512")


@pytest.fixture(scope="module")
def broker() -> Iterator[EmbeddedBroker]:
    with running_broker(settings()) as kafka:
        yield kafka


@pytest.fixture
async def users(broker: EmbeddedBroker) -> None:
    """Anna has passwords for SCRAM."""
    async with Admin(as_admin(broker)) as admin:
        wanted = [ScramPassword(ANNA, ANNA_PASSWORD, mechanism) for mechanism in SCRAM]
        (await admin.alter_user_scram_credentials(wanted)).check()


def as_admin(broker: EmbeddedBroker) -> dict[str, str]:
    return client(broker.bootstrap_servers, "PLAIN", ADMIN, ADMIN_PASSWORD)


async def there_and_back(options: dict[str, str], topic: str) -> None:
    async with Producer[bytes, bytes](options) as producer:
        place = await producer.send_and_wait(topic, b"value")
    async with Consumer[bytes, bytes](options, group_id="", auto_offset_reset="earliest") as reader:
        reader.assign([TopicPartition(topic, place.partition)])
        assert (await anext(reader)).value == b"value"


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.usefixtures("users")
async def test_every_mechanism_lets_our_clients_in(broker: EmbeddedBroker, mechanism: str) -> None:
    await there_and_back(client(broker.bootstrap_servers, mechanism), f"by-{mechanism}")


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("user", [ANNA, "nobody"])
@pytest.mark.usefixtures("users")
async def test_nobody_else_is_let_in_and_all_are_told_the_same(
    broker: EmbeddedBroker, mechanism: str, user: str
) -> None:
    options = client(broker.bootstrap_servers, mechanism, user, "wrong")
    if mechanism == "OAUTHBEARER":
        options["sasl.oauthbearer.token"] = "a.b.c"
    with pytest.raises(SaslAuthenticationFailed) as caught:
        await Admin(options).start()
    generic = (
        "Authentication failed during authentication due to invalid credentials with SASL "
        f"mechanism {mechanism}"
    )
    expected = {
        "PLAIN": "Authentication failed: Invalid username or password",
        "OAUTHBEARER": '{"status":"invalid_token"}',
    }.get(mechanism, generic)
    assert expected in str(caught.value)


@pytest.mark.parametrize("mechanism", SCRAM)
async def test_a_stranger_is_asked_for_a_proof_as_a_user_is(
    broker: EmbeddedBroker, mechanism: str, users: None
) -> None:
    def challenge(user: str) -> dict[str, str]:
        with WireClient(broker.bootstrap_servers) as wire:
            wire.ask(SaslHandshakeRequest(mechanism=mechanism))
            first = f"n,,n={user},r=abc".encode()
            answer = wire.ask(SaslAuthenticateRequest(auth_bytes=first))
            assert answer.error_code == ErrorCode.NONE
            return dict(part.split("=", 1) for part in answer.auth_bytes.decode().split(","))

    known, stranger, again = challenge(ANNA), challenge("nobody"), challenge("nobody")
    assert users is None
    assert stranger["s"] == again["s"]
    assert stranger["s"] != known["s"]
    assert stranger["i"] == known["i"]
    sizes = [len(base64.b64decode(one["s"])) for one in (known, stranger)]
    assert abs(sizes[0] - sizes[1]) <= 2


@pytest.mark.usefixtures("users")
async def test_a_password_that_is_taken_away_lets_nobody_in_any_more(
    broker: EmbeddedBroker,
) -> None:
    async with Admin(as_admin(broker)) as admin:
        await there_and_back(client(broker.bootstrap_servers, SCRAM[0]), "before")
        (await admin.alter_user_scram_credentials([ScramDeletion(ANNA, SCRAM[0])])).check()
    with pytest.raises(SaslAuthenticationFailed):
        await Admin(client(broker.bootstrap_servers, SCRAM[0])).start()


@pytest.mark.parametrize("mechanism", SCRAM)
async def test_a_delegation_token_stands_for_its_owner(
    broker: EmbeddedBroker, mechanism: str
) -> None:
    async with Admin(as_admin(broker)) as admin:
        token = await admin.create_delegation_token()
    password = base64.b64encode(token.hmac).decode()
    options = client(broker.bootstrap_servers, mechanism, token.token_id, password)
    options["sasl.tokenauth"] = "true"
    await there_and_back(options, f"by-token-{mechanism}")
    async with Admin(options) as admin:
        with pytest.raises(KafkaError) as caught:
            await admin.create_delegation_token()
        assert caught.value.code is ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    async with Admin(options) as logged_in, Admin(as_admin(broker)) as admin:
        await logged_in.list_topics()
        await admin.expire_delegation_token(token.hmac, period_ms=-1)
        with pytest.raises(SaslAuthenticationFailed):
            await Admin(options).start()
        await logged_in.list_topics()  # until the end of its session, as in Kafka


async def test_sessions_are_renewed_by_our_clients() -> None:
    with running_broker(settings(connections_max_reauth_ms="1500")) as kafka:
        options = client(kafka.bootstrap_servers, "PLAIN")
        async with Producer[bytes, bytes](options) as producer:
            end_s = time.monotonic() + 1.6
            while time.monotonic() < end_s:
                await producer.send_and_wait("t", b"value")
        counts = kafka.look(lambda broker: broker.metrics.text())
        assert "successful_reauthentication_total" in counts
        renewed = [
            line for line in counts.splitlines() if "_successful_reauthentication_total{" in line
        ]
        assert int(renewed[0].rpartition(" ")[2]) >= 1
        assert 'expired_connections_killed_count{listener="SASL_PLAINTEXT"' in counts


def test_a_listener_that_nobody_could_use_is_refused_at_start() -> None:
    own = {**settings(), "sasl.enabled.mechanisms": "GSSAPI"}
    own["sasl.mechanism.inter.broker.protocol"] = "GSSAPI"
    with pytest.raises(BrokerNotStarted, match="GSSAPI"), running_broker(own):
        pass
    unsafe = settings(moldau_oauthbearer_allow_unsecured_tokens="false")
    with pytest.raises(BrokerNotStarted, match=r"allow\.unsecured\.tokens"), running_broker(unsafe):
        pass


def test_the_settings_of_every_sasl_listener_are_read() -> None:
    (found,) = login_settings(read_startup(settings()))
    assert [one.name for one in found.mechanisms] == list(MECHANISMS)


@pytest.mark.parametrize("mechanism", MECHANISMS)
async def test_cve_2026_33558_no_secret_is_in_the_log_however_much_is_logged(
    mechanism: str, caplog: pytest.LogCaptureFixture
) -> None:
    wrong = "the-wrong-password-99"
    with caplog.at_level(logging.DEBUG), running_broker(settings()) as kafka:
        async with Admin(as_admin(kafka)) as admin:
            wanted = [ScramPassword(ANNA, ANNA_PASSWORD, each) for each in SCRAM]
            (await admin.alter_user_scram_credentials(wanted)).check()
            token = await admin.create_delegation_token()
            await admin.describe_delegation_tokens()
        options = client(kafka.bootstrap_servers, mechanism)
        await there_and_back(options, "t")
        bad = client(kafka.bootstrap_servers, mechanism, ANNA, wrong)
        bad["sasl.oauthbearer.token"] = wrong
        with pytest.raises(SaslAuthenticationFailed) as caught:
            await Admin(bad).start()
        stored = kafka.look(lambda broker: repr(broker.users) + repr(broker.tokens))
        secrets = kafka.look(
            lambda broker: [
                base64.b64encode(part).decode()
                for one in broker.users._secrets.values()
                for secret in one.values()
                for part in (secret.salt, secret.stored_key, secret.server_key)
            ]
        )
    proof = base64.b64encode(token.hmac).decode()
    assert len(secrets) == 6
    told = caplog.text + stored + repr(caught.value) + repr(token.hmac == b"")
    bearer = options.get("sasl.oauthbearer.token", wrong)
    for secret in (ADMIN_PASSWORD, ANNA_PASSWORD, wrong, TOKEN_SECRET, proof, bearer, *secrets):
        assert secret not in told


async def test_the_recipe_of_the_documentation_works_as_it_stands() -> None:
    page = (Path(__file__).parents[4] / "docs" / "security.md").read_text()
    logins = page.partition("\n## Logins\n")[2].partition("\n## ")[0]
    broker_block, client_block = (
        logins.partition(f"```{kind}\n")[2].partition("```")[0] for kind in ("properties", "ini")
    )
    own = decode_properties(broker_block.replace(":9093", ":0").encode())
    with running_broker(own) as kafka:
        options = decode_properties(client_block.encode())
        await there_and_back({**options, "bootstrap.servers": kafka.bootstrap_servers}, "t")
