"""Clients log in with tokens that an identity provider has signed; its keys are read by https."""

import http.server
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import confluent_kafka
import pytest

from certificates import Identity, authority, identity
from conformance.apache.lines import JavaProgram
from conformance.apache.marks import needs_apache
from moldau import Admin
from moldau.errors import SaslAuthenticationFailed
from moldau.testing.broker import EmbeddedBroker, running_broker
from unit.security.web_signing import EcIssuer, Issuer, RsaIssuer, keys_of, token_of

KAFKA = "org.apache.kafka.common.security"
MODULE = f"{KAFKA}.oauthbearer.OAuthBearerLoginModule"
ISSUER, AUDIENCE = "https://provider.example", "kafka"
PREFIX = "listener.name.sasl_plaintext"


@dataclass(frozen=True, slots=True)
class Provided:
    """A broker, and who signs for it."""

    broker: EmbeddedBroker
    issuers: tuple[Issuer, ...]

    @property
    def servers(self) -> str:
        return f"127.0.0.1:{self.broker.running.ports['SASL_PLAINTEXT']}"

    def token(self, number: int = 0, **claims: object) -> str:
        now = int(time.time())
        own = {"sub": "anna", "iss": ISSUER, "aud": AUDIENCE, "scope": "kafka", "iat": now}
        issuer = self.issuers[number]
        algorithm = "RS256" if isinstance(issuer, RsaIssuer) else "ES256"
        return token_of(issuer, {**own, "exp": now + 600, **claims}, algorithm)


@pytest.fixture(scope="module")
def ca() -> Identity:
    return authority()


@pytest.fixture(scope="module")
def issuers() -> tuple[Issuer, ...]:
    return (RsaIssuer(), EcIssuer())


@pytest.fixture(scope="module")
def keys_url(
    ca: Identity, issuers: tuple[Issuer, ...], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    class Provider(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(keys_of(*issuers))

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    own = identity(ca, "provider")
    context = own.server_context(tmp_path_factory.mktemp("provider") / "provider.pem")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Provider) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"https://127.0.0.1:{server.server_port}/keys"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def provided(
    ca: Identity,
    issuers: tuple[Issuer, ...],
    keys_url: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Provided]:
    trust = tmp_path_factory.mktemp("trust") / "ca.pem"
    trust.write_text(ca.certificate_pem)
    plain = f"{KAFKA}.plain.PlainLoginModule required"
    settings = {
        "listeners": "SASL_PLAINTEXT://127.0.0.1:0",
        "security.inter.broker.protocol": "SASL_PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN,OAUTHBEARER",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        f"{PREFIX}.plain.sasl.jaas.config": (
            f'{plain} username="broker" password="of-brokers" user_broker="of-brokers";'
        ),
        f"{PREFIX}.oauthbearer.sasl.jaas.config": (
            f'{MODULE} required ssl.truststore.type="PEM" ssl.truststore.location="{trust}";'
        ),
        "sasl.oauthbearer.jwks.endpoint.url": keys_url,
        "sasl.oauthbearer.expected.issuer": ISSUER,
        "sasl.oauthbearer.expected.audience": AUDIENCE,
        "connection.failed.authentication.delay.ms": "1",
    }
    with running_broker(settings) as broker:
        yield Provided(broker, issuers)


def client(provided: Provided, token: str) -> dict[str, str]:
    return {
        "bootstrap.servers": provided.servers,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.token": token,
    }


@pytest.mark.parametrize("number", [0, 1])
async def test_our_clients_log_in(provided: Provided, number: int) -> None:
    async with Admin(client(provided, provided.token(number))) as admin:
        await admin.list_topics()


async def test_tokens_of_others_for_others_or_of_another_time_are_refused(
    provided: Provided,
) -> None:
    stranger = replace(provided, issuers=(RsaIssuer(),))  # by the name of the known key
    now = int(time.time())
    for token in (
        stranger.token(),
        provided.token(aud="others"),
        provided.token(iss="https://others.example"),
        provided.token(exp=now - 60, iat=now - 600),
        provided.token(iat=now + 600),
        provided.token()[:-4] + "AAAA",
    ):
        with pytest.raises(SaslAuthenticationFailed, match="invalid_token"):
            await Admin(client(provided, token)).start()


def test_librdkafka_logs_in(provided: Provided) -> None:
    producer = confluent_kafka.Producer(
        {
            "bootstrap.servers": provided.servers,
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "OAUTHBEARER",
            "oauth_cb": lambda _: (provided.token(), time.time() + 600),
        }
    )
    producer.produce("librdkafka", b"value")
    assert producer.flush(20) == 0


@needs_apache("kafka-3.9")
def test_java_logs_in_with_the_token_of_a_file(provided: Provided, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(provided.token())
    settings = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.jaas.config": f"{MODULE} required;",
        "sasl.login.callback.handler.class": (
            f"{KAFKA}.oauthbearer.OAuthBearerLoginCallbackHandler"
        ),
        "sasl.oauthbearer.token.endpoint.url": file.as_uri(),
    }
    with JavaProgram("traffic", "kafka-3.9") as java:
        offset = java.call(
            "produce",
            bootstrap=provided.servers,
            topic="java",
            partition=0,
            producer="signed",
            settings=settings,
            records=[[1, None, b"value", []]],
        )
    assert offset >= 0
