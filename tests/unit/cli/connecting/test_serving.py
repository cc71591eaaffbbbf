"""A worker that cannot be started says why."""

from pathlib import Path

import pytest

from moldau.cli.connecting.serving import serve_worker
from moldau.cli.terminal.failure import CommandFailed
from moldau.testing.broker import EmbeddedBroker


def test_a_connector_that_is_wrong_ends_the_command(kafka: EmbeddedBroker) -> None:
    worker = {"bootstrap.servers": kafka.bootstrap_servers, "listeners": "http://localhost:0"}
    with pytest.raises(CommandFailed, match=r"connector a: .*contains no connector type"):
        serve_worker(worker, {"a": {"topic": "t"}})


def test_a_file_of_users_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="No such file"):
        serve_worker({"listeners": "http://localhost:0"}, users=str(tmp_path / "none"))
