"""A worker is asked over TLS, by those who may."""

import argparse
from collections.abc import Iterator
from pathlib import Path

import pytest

from certificates import authority, identity
from moldau.cli.connecting.requests import WorkerAddress, add_address, address_of
from moldau.cli.terminal.failure import CommandFailed
from moldau.testing.broker import EmbeddedBroker, running_broker
from moldau.web.users import Users
from unit.connect.started import StartedWorker, started_worker

USERS = Users(["anna: secret", "bob: word, read-only", "bearer ci: 0d6f"])
CONFIG = {"connector.class": "FileStreamSink", "topics": "t", "file": "x"}


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tls")


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedBroker]:
    with running_broker({"group.initial.rebalance.delay.ms": "0"}) as broker:
        yield broker


@pytest.fixture(scope="module")
def worker(directory: Path, cluster: EmbeddedBroker) -> Iterator[StartedWorker]:
    trusted = authority()
    (directory / "ca.pem").write_text(trusted.certificate_pem)
    server = identity(trusted, "worker")
    settings = {
        "listeners": "https://127.0.0.1:0",
        "listeners.https.ssl.keystore.location": server.write(directory / "server.pem"),
    }
    with started_worker(cluster.bootstrap_servers, settings, users=USERS) as running:
        yield running


def address(worker: StartedWorker, directory: Path, login: str) -> WorkerAddress:
    (directory / "login").write_text(f"{login}\n")
    parser = argparse.ArgumentParser()
    add_address(parser)
    given = ["--url", worker.url, "--login", str(directory / "login")]
    return address_of(parser.parse_args([*given, "--ca", str(directory / "ca.pem")]))


def test_people_and_programs_log_in_and_some_may_only_read(
    worker: StartedWorker, directory: Path
) -> None:
    for login in ("anna: secret", "bearer 0d6f"):
        known = address(worker, directory, login)
        assert "secret" not in repr(known)
        assert "0d6f" not in repr(known)
        made = known.ask("PUT", "connectors/c/config", CONFIG)
        assert isinstance(made, dict)
        assert made["name"] == "c"
        assert known.ask("DELETE", "connectors/c") is None
    reader = address(worker, directory, "bob: word")
    assert reader.ask("GET", "connectors") == []
    for method, path in (("PUT", "connectors/c/config"), ("DELETE", "connectors/c")):
        with pytest.raises(CommandFailed, match="bob may only read"):
            reader.ask(method, path, CONFIG)
    with pytest.raises(CommandFailed, match="bob may only read"):
        reader.ask("PUT", "admin/loggers/root", {"level": "DEBUG"})


def test_who_is_not_known_and_what_is_not_trusted_is_said(
    worker: StartedWorker, directory: Path
) -> None:
    with pytest.raises(CommandFailed, match="log in with --login FILE"):
        address(worker, directory, "anna: wrong").ask("GET", "connectors")
    with pytest.raises(CommandFailed, match="CERTIFICATE_VERIFY_FAILED"):
        WorkerAddress(worker.url).ask("GET", "connectors")


def test_files_that_do_not_serve_are_named(directory: Path, worker: StartedWorker) -> None:
    with pytest.raises(CommandFailed, match="the line is NAME: PASSWORD"):
        address(worker, directory, "secret")
    with pytest.raises(CommandFailed, match="--ca: none: No such file"):
        WorkerAddress(worker.url, None, "none").ask("GET", "connectors")
