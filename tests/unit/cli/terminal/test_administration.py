"""The Admin client of a command, by its options."""

from pathlib import Path

import pytest

from moldau.cli.terminal.administration import run_admin, settings, topic_settings
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.topics import OPTIONS, TopicAdmin
from moldau.testing.broker import EmbeddedBroker
from unit.cli.command import run


def test_settings_come_from_the_options_and_the_file(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text("client.id=me\nbootstrap.servers=elsewhere:1\n")
    given = OPTIONS.parse(["--bootstrap-server", "here:2", "--command-config", str(file)])
    assert settings(given) == {"client.id": "me", "bootstrap.servers": "here:2"}
    with pytest.raises(CommandFailed, match="--bootstrap-server must be specified"):
        settings(OPTIONS.parse([]))


def test_work_is_done_with_a_client_that_is_connected(bootstrap: str) -> None:
    given = OPTIONS.parse([bootstrap])
    assert "nope" not in run_admin(given, TopicAdmin, lambda admin: admin.list_topics())


async def test_one_setting_of_topics_is_looked_up(broker: EmbeddedBroker, bootstrap: str) -> None:
    values: dict[str, object] = {
        "bootstrap.servers": broker.bootstrap_servers,
        "group.id": "a consumer's, not an admin's",
    }
    name = "message.timestamp.type"
    assert await topic_settings(values, ["nope"], name) == {}
    gone: dict[str, object] = {"bootstrap.servers": "127.0.0.1:1", "default.api.timeout.ms": 1}
    assert await topic_settings(gone, ["t"], name) == {}


def test_a_topics_setting_is_found(bootstrap: str) -> None:
    run("topics", bootstrap, "--create", "--topic", "t", "--config", "retention.ms=7")
    assert "retention.ms=7" in run("topics", bootstrap, "--describe", "--topic", "t").stdout
