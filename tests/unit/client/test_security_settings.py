"""Which settings of TLS and SASL go together."""

import pytest

from moldau.client.settings import ClientSettings, read_settings
from moldau.errors import InvalidConfig

SERVERS = {"bootstrap.servers": "a:1"}
USER = {"sasl.username": "anna", "sasl.password": "sesam"}
JAAS = 'x.Y required username="ben" password="p" scope="s";'


def settings(**options: object) -> ClientSettings:
    mapping = {name.replace("_", "."): value for name, value in options.items()}
    return read_settings(ClientSettings, {**SERVERS, **mapping}, {})


@pytest.mark.parametrize(
    ("protocol", "tls", "sasl"),
    [
        ("PLAINTEXT", False, False),
        ("ssl", True, False),
        ("SASL_PLAINTEXT", False, True),
        ("sasl_ssl", True, True),
    ],
)
def test_the_protocol_says_what_is_used(protocol: str, *, tls: bool, sasl: bool) -> None:
    read = settings(security_protocol=protocol, sasl_mechanism="plain", **USER)
    assert (read.uses_tls, read.uses_sasl) == (tls, sasl)


def test_secrets_are_not_printed() -> None:
    assert "sesam" not in repr(settings(security_protocol="SSL", **USER))


def test_settings_of_tls_go_where_they_belong() -> None:
    read = settings(ssl_truststore_location="/t", ssl_key_password="p")
    assert (read.tls.truststore_location, read.tls.key_password) == ("/t", "p")


def test_single_settings_win_over_the_login_module() -> None:
    read = settings(sasl_jaas_config=JAAS, sasl_username="anna", sasl_tokenauth="true")
    assert read.login == {
        "username": "anna",
        "password": "p",
        "scope": "s",
        "tokenauth": "true",
    }


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"security_protocol": "TLS"}, r"security\.protocol"),
        ({"sasl_mechanism": "GSSAPI"}, r"sasl\.mechanism"),
        ({}, r"sasl\.mechanism"),
        ({"sasl_mechanism": "PLAIN"}, r"sasl\.username"),
        ({"sasl_mechanism": "SCRAM-SHA-512", "sasl_username": "a"}, r"sasl\.password"),
        ({"sasl_mechanism": "OAUTHBEARER"}, r"sasl\.oauthbearer\.token"),
    ],
)
def test_what_is_missing_is_said(options: dict[str, str], reason: str) -> None:
    with pytest.raises(InvalidConfig, match=reason):
        settings(**{"security_protocol": "SASL_SSL", **options})


@pytest.mark.parametrize(
    "options",
    [
        {"sasl_mechanism": "PLAIN", "sasl_jaas_config": JAAS},
        {"sasl_mechanism": "OAUTHBEARER", "sasl_oauthbearer_token": "t"},
        {"sasl_mechanism": "OAUTHBEARER", "sasl_oauthbearer_token_provider": str},
        {"sasl_mechanism": "OAUTHBEARER", "sasl_oauthbearer_token_endpoint_url": "https://x"},
    ],
)
def test_what_is_enough(options: dict[str, object]) -> None:
    assert settings(security_protocol="SASL_SSL", **options).uses_sasl
