"""Who a session with ZooKeeper logs in as."""

from pathlib import Path

import pytest

from moldau.errors import InvalidConfig
from moldau.security.zookeeper_login import FILE_PROPERTY, find_login

DIGEST = "org.apache.zookeeper.server.auth.DigestLoginModule"
FILE = f"""
// Clients of brokers
KafkaClient {{ org.example.Other required; }};
/* of ZooKeeper */
Client {{
    {DIGEST} required
    username="kafka" password="se}}sam;//";
}};
Second {{ {DIGEST} required username="second" password="p"; }};
"""


@pytest.fixture
def login_file(tmp_path: Path) -> str:
    path = tmp_path / "jaas.conf"
    path.write_text(FILE)
    return str(path)


def user(setting: str | None, properties: dict[str, str]) -> str | None:
    """As whom one would log in."""
    begin = find_login(setting, properties)
    if begin is None:
        return None
    answer = begin().answer(b'nonce="n"')
    assert answer is not None
    return answer.decode().partition('username="')[2].partition('"')[0]


def test_nobody_logs_in_unless_told_to() -> None:
    assert find_login(None, {}) is None


def test_the_setting_says_who() -> None:
    assert user(f'{DIGEST} required username="anna" password="p";', {}) == "anna"


def test_the_login_file_of_java_says_who(login_file: str) -> None:
    assert user(None, {FILE_PROPERTY: login_file}) == "kafka"


def test_the_setting_goes_before_the_file(login_file: str) -> None:
    setting = f'{DIGEST} required username="anna" password="p";'
    assert user(setting, {FILE_PROPERTY: login_file}) == "anna"


def test_another_section_can_be_named(login_file: str) -> None:
    properties = {FILE_PROPERTY: login_file, "zookeeper.sasl.clientconfig": "Second"}
    assert user(None, properties) == "second"
    assert user(None, {**properties, "zookeeper.sasl.clientconfig": "Third"}) is None


def test_it_can_be_switched_off(login_file: str) -> None:
    assert find_login(None, {FILE_PROPERTY: login_file, "zookeeper.sasl.client": "false"}) is None


def test_every_exchange_has_a_nonce_of_its_own(login_file: str) -> None:
    begin = find_login(None, {FILE_PROPERTY: login_file})
    assert begin is not None
    assert begin().answer(b'nonce="n"') != begin().answer(b'nonce="n"')


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ('com.sun.Krb5LoginModule required keyTab="k";', "only DigestLoginModule"),
        (f'{DIGEST} required username="anna";', "needs a username and a password"),
        (DIGEST, "moldau.zookeeper.sasl.jaas.config"),
    ],
)
def test_what_cannot_work_is_refused(setting: str, message: str) -> None:
    with pytest.raises(InvalidConfig, match=message):
        find_login(setting, {})


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.conf")
    with pytest.raises(InvalidConfig, match=r"missing\.conf: No such file"):
        find_login(None, {FILE_PROPERTY: missing})
