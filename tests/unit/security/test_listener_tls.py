"""TLS of one listener, and what may take its place."""

import os
from pathlib import Path

import pytest

from certificates import Identity, authority, identity
from moldau.config.listener_settings import ListenerSettings
from moldau.config.listeners import SecurityProtocol
from moldau.errors import InvalidConfig
from moldau.security.listener_tls import (
    ListenerTls,
    client_auth_of,
    make_tls,
    refuse_unfit,
    require_agreement,
    require_same_owner,
    source_of,
)

CA = authority()
BROKER = identity(CA, "broker")


def texts_of(own: Identity, ca: Identity = CA, **others: str) -> dict[str, str]:
    return {
        "listener.name.outside.ssl.keystore.key": own.key_pem(),
        "listener.name.outside.ssl.keystore.certificate.chain": own.certificate_pem,
        "ssl.truststore.certificates": ca.certificate_pem,
        **others,
    }


def tls_of(own: Identity, ca: Identity = CA) -> ListenerTls:
    settings = ListenerSettings(texts_of(own, ca), "OUTSIDE")
    return make_tls(source_of(settings, SecurityProtocol.SSL))


@pytest.mark.parametrize(
    ("protocol", "texts", "expected"),
    [
        (SecurityProtocol.SSL, {}, "none"),
        (SecurityProtocol.SSL, {"ssl.client.auth": "required"}, "required"),
        (SecurityProtocol.SASL_SSL, {"ssl.client.auth": "required"}, "none"),
        (
            SecurityProtocol.SASL_SSL,
            {"listener.name.outside.ssl.client.auth": "requested"},
            "requested",
        ),
    ],
)
def test_with_sasl_only_a_listeners_own_setting_asks_for_certificates(
    protocol: SecurityProtocol, texts: dict[str, str], expected: str
) -> None:
    assert client_auth_of(ListenerSettings(texts, "OUTSIDE"), protocol) == expected


def test_a_source_changes_with_its_settings_and_its_files(tmp_path: Path) -> None:
    path = Path(BROKER.write(tmp_path / "broker.pem"))
    settings = ListenerSettings({"ssl.keystore.location": str(path)}, "OUTSIDE")
    before = source_of(settings, SecurityProtocol.SSL)
    assert source_of(settings, SecurityProtocol.SSL) == before
    os.utime(path, ns=(1, 1))
    assert source_of(settings, SecurityProtocol.SSL) != before
    assert BROKER.key_pem() not in repr(source_of(ListenerSettings(texts_of(BROKER), "OUTSIDE"),
                                                  SecurityProtocol.SSL))  # fmt: skip


def test_a_key_store_is_replaced_by_one_of_the_same_owner() -> None:
    old = tls_of(BROKER)
    renewed = tls_of(identity(CA, "BROKER"))
    require_same_owner(old, renewed, may_name_change=False, may_names_go=False)
    other = tls_of(identity(CA, "somebody"))
    with pytest.raises(
        InvalidConfig, match=r"DistinguishedName does not match:  existing=\{alias="
    ):
        require_same_owner(old, other, may_name_change=False, may_names_go=False)
    require_same_owner(old, other, may_name_change=True, may_names_go=False)


def test_names_of_a_certificate_may_be_added_but_not_go() -> None:
    old, moved = tls_of(BROKER), tls_of(identity(CA, "broker", "127.0.0.2"))
    with pytest.raises(InvalidConfig, match="SubjectAltNames do not match"):
        require_same_owner(old, moved, may_name_change=False, may_names_go=False)
    require_same_owner(old, moved, may_name_change=False, may_names_go=True)


def test_brokers_must_be_able_to_connect_to_each_other() -> None:
    require_agreement(tls_of(BROKER), tls_of(identity(CA, "broker")))
    other = authority()
    with pytest.raises(InvalidConfig, match="can't connect to a server"):
        require_agreement(tls_of(BROKER), tls_of(identity(other, "broker"), other))


def test_agreement_leaves_names_to_be_checked_where_they_were() -> None:
    tls = tls_of(BROKER)
    require_agreement(tls, tls)
    assert tls.client.check_hostname


def test_classes_that_would_make_the_engine_are_refused() -> None:
    texts = {"listener.name.outside.ssl.engine.factory.class": "com.example.Engines"}
    with pytest.raises(InvalidConfig, match=r"ssl\.engine\.factory\.class"):
        refuse_unfit(ListenerSettings(texts, "OUTSIDE"))
    refuse_unfit(ListenerSettings(texts, "INSIDE"))


@pytest.mark.parametrize(("mode", "is_warned_of"), [(0o600, False), (0o640, False), (0o644, True)])
def test_a_key_that_everyone_can_read_is_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, mode: int, is_warned_of: bool
) -> None:
    path = Path(BROKER.write(tmp_path / "broker.pem"))
    path.chmod(mode)
    settings = ListenerSettings({"ssl.keystore.location": str(path)}, "OUTSIDE")
    make_tls(source_of(settings, SecurityProtocol.SSL))
    assert (f"can read the private key in {path}" in caplog.text) is is_warned_of
