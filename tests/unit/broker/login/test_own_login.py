"""The broker's own login."""

import pytest

from moldau.broker.login.own_login import own_login
from moldau.config.broker.startup import read_startup
from moldau.errors import InvalidConfig
from moldau.runtime.clock import SystemClock
from unit.broker.login.secured import JAAS, MECHANISMS, PLAIN, PREFIX, settings

NAME = "SASL_PLAINTEXT"


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_there_is_one_for_every_mechanism(mechanism: str) -> None:
    startup = read_startup(settings(mechanism))
    assert own_login(startup, SystemClock(), NAME) is not None


def test_a_listener_without_sasl_wants_none() -> None:
    assert own_login(read_startup({}), SystemClock(), "PLAINTEXT") is None


def test_a_password_is_needed() -> None:
    texts = settings() | {f"{PREFIX}.plain.{JAAS}": f'{PLAIN} required user_anna="x";'}
    with pytest.raises(InvalidConfig, match="needs a username and a password"):
        own_login(read_startup(texts), SystemClock(), NAME)


def test_a_token_may_come_from_a_provider() -> None:
    texts = settings("OAUTHBEARER", sasl_oauthbearer_token_endpoint_url="https://idp.example")
    with pytest.raises(InvalidConfig, match=r"client\.id"):
        own_login(read_startup(texts), SystemClock(), NAME)
