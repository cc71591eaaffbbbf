"""Passwords among the settings: in no log, no error, no answer, and in nothing that is shown."""

import logging
import traceback
from pathlib import Path

import pytest

from certificates import authority, identity
from moldau import Admin
from moldau.client.admin.configs import ConfigResource
from moldau.errors import KafkaError
from moldau.testing.broker import EmbeddedBroker, running_broker

CA = authority()
PREFIX = "listener.name.ssl.ssl."
STORE, OTHER_STORE, ENCODER = "of-the-store-1753", "of-the-other-2864", "of-the-encoder-3975"
TOKENS, JAAS = "signs-tokens-4086", "of-the-module-5197"
TRIED = ("tried-first-6208", "tried-second-7319", "tried-third-8420", "tried-last-9531")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    broker = identity(CA, "broker")
    broker.write_pkcs12(tmp_path / "store.p12", STORE)
    broker.write_pkcs12(tmp_path / "other.p12", OTHER_STORE)
    return tmp_path


def settings(folder: Path) -> dict[str, str]:
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    return {
        "listeners": "PLAINTEXT://127.0.0.1:0,SSL://127.0.0.1:0",
        "ssl.keystore.type": "PKCS12",
        "ssl.keystore.location": str(folder / "store.p12"),
        "ssl.keystore.password": STORE,
        "ssl.truststore.certificates": CA.certificate_pem,
        "password.encoder.secret": ENCODER,
        "delegation.token.secret.key": TOKENS,
        "sasl.jaas.config": f'{module} required username="u" password="{JAAS}";',
    }


async def alter(kafka: EmbeddedBroker, folder: Path) -> str:
    """Everything that may be told of changes that are made and of those that are not."""
    told = []
    other = {f"{PREFIX}keystore.location": str(folder / "other.p12")}
    changes: list[dict[str, str]] = [
        {**other, f"{PREFIX}keystore.password": TRIED[0]},
        {**other, f"{PREFIX}keystore.password": OTHER_STORE},
        {f"{PREFIX}keystore.key": identity(CA, "broker").key_pem()},
        {"ssl.keystore.password": TRIED[1]},
        {"sasl.jaas.config": TRIED[2]},
        {"unknown.password": TRIED[3]},
    ]
    refused = 0
    async with Admin({"bootstrap.servers": kafka.bootstrap_servers}) as admin:
        own = ConfigResource.broker(0)
        for change in changes:
            try:
                (await admin.incremental_alter_configs({own: change})).check()
            except KafkaError as error:
                refused += 1
                told.append("".join(traceback.format_exception(error)))
        described = await admin.describe_configs([own], include_synonyms=True)
        told.append(repr(dict(described.items())))
    assert refused == 4, "all but the fitting password, and a name that may be a plug-in's"
    return "\n".join(told)


async def test_passwords_of_settings_are_told_nowhere(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    own = settings(folder)
    with caplog.at_level(logging.DEBUG), running_broker(own) as kafka:
        told = await alter(kafka, folder)
        told += kafka.look(lambda broker: repr(broker.configs.layers) + repr(broker.config))
    for secret in (STORE, OTHER_STORE, ENCODER, TOKENS, JAAS, *TRIED, "PRIVATE KEY"):
        assert secret not in told
        assert secret not in caplog.text
