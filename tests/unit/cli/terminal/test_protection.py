"""What is wrong with TLS or a login, at brokers that run."""

import datetime as dt
from collections.abc import Iterator
from pathlib import Path

import pytest

from certificates import Identity, authority, identity
from moldau.cli.terminal.protection import own_token, refusal, untrusted, validity
from moldau.client.connection.addresses import Address
from moldau.client.settings import AdminSettings
from moldau.errors import ErrorCode, KafkaError
from moldau.security.certificates import CertificateFacts
from moldau.security.web_tokens import unsecured_token
from moldau.testing.broker import EmbeddedBroker, running_broker
from unit.broker.login.secured import ADMIN, ADMIN_PASSWORD, PLAIN
from unit.cli.command import Done, run

NOW = dt.datetime(2026, 11, 18, 9, 30, tzinfo=dt.UTC)
DAY = dt.timedelta(days=1)
WHERE = Address("kafka.example", 9093)


@pytest.fixture(scope="module")
def ca() -> Identity:
    return authority()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, ca: Identity) -> Path:
    folder = tmp_path_factory.mktemp("keys")
    (folder / "ca.pem").write_text(ca.certificate_pem)
    (folder / "other-ca.pem").write_text(authority().certificate_pem)
    identity(ca, "broker").write(folder / "broker.pem")
    identity(ca, "late", days=-1).write(folder / "late.pem")
    identity(ca, "elsewhere", "10.9.8.7").write(folder / "elsewhere.pem")
    return folder


def settings_of(folder: Path, store: str) -> dict[str, str]:
    return {
        "listeners": "SASL_SSL://127.0.0.1:0",
        "security.inter.broker.protocol": "SASL_SSL",
        "sasl.enabled.mechanisms": "PLAIN",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "listener.name.sasl_ssl.plain.sasl.jaas.config": (
            f'{PLAIN} required username="{ADMIN}" password="{ADMIN_PASSWORD}" '
            f'user_{ADMIN}="{ADMIN_PASSWORD}";'
        ),
        "connection.failed.authentication.delay.ms": "1",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(folder / store),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(folder / "ca.pem"),
        "ssl.endpoint.identification.algorithm": "",
    }


@pytest.fixture(scope="module")
def secured(folder: Path) -> Iterator[EmbeddedBroker]:
    with running_broker(settings_of(folder, "broker.pem")) as broker:
        yield broker


def asked(broker: EmbeddedBroker, folder: Path, **change: str) -> Done:
    texts = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.username": ADMIN,
        "sasl.password": ADMIN_PASSWORD,
        "ssl.truststore.location": str(folder / "ca.pem"),
        **{name.replace("_", "."): value for name, value in change.items()},
    }
    file = folder / "client.properties"
    file.write_text("\n".join(f"{name}={value}" for name, value in texts.items() if value))
    servers = ("--bootstrap-server", broker.bootstrap_servers)
    return run("doctor", *servers, "--command-config", str(file))


def test_a_client_that_is_let_in_is_told_why(secured: EmbeddedBroker, folder: Path) -> None:
    done = asked(secured, folder)
    assert done.code == 0, done
    assert "of CN=broker, is valid until" in done.stdout
    assert "is trusted, and is for 127.0.0.1" in done.stdout
    assert "lets this client in by PLAIN" in done.stdout


@pytest.mark.parametrize(
    ("change", "text", "advice"),
    [
        ({"sasl_password": "wrong"}, "the login failed", "Brokers do not say"),
        ({"sasl_mechanism": "SCRAM-SHA-256"}, "offers PLAIN, not SCRAM-SHA-256", "Set sasl.mech"),
        ({"security_protocol": "SASL_PLAINTEXT"}, "speaks TLS", "security.protocol=SASL_SSL"),
        ({"security_protocol": "SSL"}, "answers nothing", "Is it a SASL listener?"),
        ({"ssl_truststore_location": "OTHER"}, "by no authority", "ssl.truststore.location"),
        ({"ssl_keystore_location": "LATE"}, "of CN=late, expired on", "the clock of this machine"),
    ],
)
def test_what_keeps_a_client_out_is_named(
    secured: EmbeddedBroker, folder: Path, change: dict[str, str], text: str, advice: str
) -> None:
    files = {"OTHER": "other-ca.pem", "LATE": "late.pem"}
    done = asked(
        secured,
        folder,
        **{
            name: str(folder / files[value]) if value in files else value
            for name, value in change.items()
        },
    )
    assert done.code == 1
    (line,) = (each for each in done.stdout.splitlines() if each.startswith("FAIL"))
    assert text in line
    assert advice in done.stdout
    assert ADMIN_PASSWORD not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("store", "text"),
    [("late.pem", "of CN=late, expired on"), ("elsewhere.pem", "is for localhost, 10.9.8.7, not")],
)
def test_what_is_wrong_with_a_broker_s_certificate_is_named(
    folder: Path, store: str, text: str
) -> None:
    # Among themselves brokers would notice it as well; alone on PLAINTEXT this one does not.
    own = settings_of(folder, store) | {
        "listeners": "PLAINTEXT://127.0.0.1:0,SASL_SSL://127.0.0.1:0"
    }
    own["security.inter.broker.protocol"] = "PLAINTEXT"
    with running_broker(own) as broker:
        port = broker.running.ports["SASL_SSL"]
        broker._port = port
        done = asked(broker, folder)
    assert done.code == 1
    assert text in done.stdout


def test_a_plain_port_is_named(broker: EmbeddedBroker, folder: Path) -> None:
    done = asked(broker, folder)
    assert (done.code, "does not speak TLS" in done.stdout) == (1, True)
    done = asked(broker, folder, security_protocol="SASL_PLAINTEXT")
    assert (done.code, "wants no login" in done.stdout) == (1, True), done


def facts(since: dt.timedelta, until: dt.timedelta) -> CertificateFacts:
    return CertificateFacts("CN=x", NOW + since, NOW + until, ("a.example",))


def test_dates_are_compared_with_the_clock_here() -> None:
    assert validity("it", facts(-DAY, 40 * DAY), NOW).advice == ""
    assert validity("it", facts(-DAY, 2 * DAY), NOW).advice == "Renew it soon."
    early = validity("it", facts(DAY, 2 * DAY), NOW)
    assert (early.is_well, "valid only from 2026-11-19 09:30" in early.text) == (False, True)
    assert "expired on 2026-11-17" in validity("it", facts(-2 * DAY, -DAY), NOW).text


@pytest.mark.parametrize(
    ("code", "text"),
    [(62, "for a.example, not for kafka"), (20, "no authority"), (10, "one of the authorities")],
)
def test_why_a_certificate_is_not_trusted(code: int, text: str) -> None:
    assert text in untrusted(WHERE, facts(-DAY, DAY), code, "reason").text


def test_a_token_that_has_expired_or_is_none() -> None:
    def of(token: str) -> AdminSettings:
        return AdminSettings(
            bootstrap_servers="x:1",
            security_protocol="SASL_SSL",
            sasl_mechanism="OAUTHBEARER",
            sasl_oauthbearer_token=token,
        )

    made = unsecured_token(
        {"unsecuredLoginStringClaim_sub": "anna"}, now_ms=int(NOW.timestamp() * 1000)
    )
    assert own_token(of(made), NOW)[0].is_well
    assert "expired on" in own_token(of(made), NOW + DAY)[0].text
    assert "is no token" in own_token(of("rubbish"), NOW)[0].text


def test_a_bearer_token_that_is_refused_has_advice_of_its_own() -> None:
    settings = AdminSettings(
        bootstrap_servers="x:1", security_protocol="SASL_SSL", sasl_mechanism="OAUTHBEARER"
    )
    error = KafkaError(ErrorCode.SASL_AUTHENTICATION_FAILED, "no")
    assert "issuer" in refusal(settings, WHERE, error).advice
