"""The login that Java's clients take from a file which `KAFKA_OPTS` names."""

from pathlib import Path

import pytest

from moldau.cli.terminal.client_settings import usable
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.login_file import login_from_file
from moldau.client.settings import AdminSettings

SASL = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"}
SECTION = """
KafkaClient {
    org.apache.kafka.common.security.plain.PlainLoginModule required
    username="alice" password="secret; really";  // as in Kafka's documentation
};
"""


def name_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = f"-Xmx1G -Djava.security.auth.login.config={path}"
    monkeypatch.setenv("KAFKA_OPTS", options)


def test_user_and_password_come_from_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "jaas.conf"
    file.write_text(SECTION)
    name_file(file, monkeypatch)
    assert usable(AdminSettings, SASL) == {
        **SASL,
        "sasl.username": "alice",
        "sasl.password": "secret; really",
    }


def test_who_logs_in_otherwise_or_not_at_all_needs_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name_file(tmp_path / "nowhere", monkeypatch)
    assert login_from_file({}) == {}
    assert login_from_file({**SASL, "sasl.jaas.config": "x required;"}) == {}
    monkeypatch.delenv("KAFKA_OPTS")
    assert login_from_file(SASL) == {}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "No such file"),
        ("Client { Module required; };", "has no section KafkaClient"),
        ("nonsense", "not a login file"),
    ],
)
def test_a_file_that_does_not_help_is_named(
    content: str | None, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "jaas.conf"
    if content is not None:
        file.write_text(content)
    name_file(file, monkeypatch)
    with pytest.raises(CommandFailed, match=reason):
        login_from_file(SASL)
