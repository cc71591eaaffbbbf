"""Settings as one listener has them."""

import pytest

from moldau.config.listener_settings import ListenerSettings
from moldau.config.values import Password
from moldau.errors import InvalidConfig

TEXTS = {
    "ssl.client.auth": "none",
    "ssl.keystore.location": "/all.p12",
    "listener.name.outside.ssl.client.auth": "required",
    "listener.name.outside.connections.max.reauth.ms": "2000",
    "listener.name.outside.scram-sha-256.connections.max.reauth.ms": "1000",
    "connections.max.reauth.ms": "3000",
    "listener.name.outside.ssl.keystore.password": "secret",
}


def test_a_listeners_own_setting_counts_before_that_of_all() -> None:
    assert ListenerSettings(TEXTS, "OUTSIDE").text("ssl.client.auth") == "required"
    assert ListenerSettings(TEXTS, "INSIDE").text("ssl.client.auth") == "none"
    assert ListenerSettings(TEXTS, "OUTSIDE").text("ssl.keystore.location") == "/all.p12"


def test_that_of_a_mechanism_counts_before_that_of_its_listener() -> None:
    outside = ListenerSettings(TEXTS, "OUTSIDE")
    assert outside.text("connections.max.reauth.ms", "SCRAM-SHA-256") == "1000"
    assert outside.text("connections.max.reauth.ms", "PLAIN") == "2000"
    assert outside.text("connections.max.reauth.ms") == "2000"
    assert ListenerSettings(TEXTS, "INSIDE").text("connections.max.reauth.ms", "PLAIN") == "3000"


def test_what_was_not_given_has_no_text_and_its_default_as_value() -> None:
    inside = ListenerSettings(TEXTS, "INSIDE")
    assert inside.text("ssl.truststore.location") is None
    assert inside.value("ssl.truststore.location") is None
    assert inside.value("ssl.enabled.protocols") == ("TLSv1.2", "TLSv1.3")


def test_values_have_the_type_of_their_setting() -> None:
    outside = ListenerSettings(TEXTS, "OUTSIDE")
    assert outside.value("connections.max.reauth.ms", "SCRAM-SHA-256") == 1000
    password = outside.value("ssl.keystore.password")
    assert isinstance(password, Password)
    assert repr(password) == "[hidden]"


def test_a_value_that_its_setting_refuses_is_refused_here_as_well() -> None:
    texts = {"listener.name.outside.ssl.client.auth": "perhaps"}
    with pytest.raises(InvalidConfig, match=r"ssl\.client\.auth"):
        ListenerSettings(texts, "OUTSIDE").value("ssl.client.auth")


def test_what_is_given_for_all_is_no_setting_of_the_listeners_own() -> None:
    outside = ListenerSettings(TEXTS, "OUTSIDE")
    assert outside.own_text("ssl.client.auth") == "required"
    assert outside.own_text("ssl.keystore.location") is None
    assert outside.own_text("connections.max.reauth.ms", "PLAIN") == "2000"


def test_the_name_of_a_listeners_own_setting_can_be_told() -> None:
    outside = ListenerSettings({}, "OUTSIDE")
    assert outside.own_name("ssl.client.auth") == "listener.name.outside.ssl.client.auth"
    assert (
        outside.own_name("sasl.jaas.config", "PLAIN")
        == "listener.name.outside.plain.sasl.jaas.config"
    )
