"""Users of a broker, before its first start and while it runs."""

import asyncio
from pathlib import Path

import pytest

from moldau import Admin
from moldau.broker.main import Ports, running
from moldau.config.broker.startup import read_startup
from moldau.testing.broker import EmbeddedBroker
from unit.broker.login.secured import client, settings
from unit.cli.command import run


def test_users_are_added_listed_and_removed_without_a_broker(tmp_path: Path) -> None:
    data = ("--data", str(tmp_path / "new"))
    assert run("users", "list", *data) == (0, "", "")
    assert run("users", "add", "bob", *data, stdin="a,b=c\n") == (0, "Added user bob.\n", "")
    one = ("--mechanism", "SCRAM-SHA-512", "--iterations", "8192")
    assert run("users", "add", "alice", *one, *data, stdin="secret\n").code == 0
    listed = "alice\tSCRAM-SHA-512\nbob\tSCRAM-SHA-256, SCRAM-SHA-512\n"
    assert run("users", "list", *data).stdout == listed
    assert run("users", "remove", "bob", *data).stdout == "Removed user bob.\n"
    assert run("users", "list", *data).stdout == "alice\tSCRAM-SHA-512\n"
    gone = run("users", "remove", "bob", *data)
    assert (gone.code, gone.stderr) == (1, "There is no user bob.\n")


def test_a_password_is_not_kept_in_clear(tmp_path: Path) -> None:
    run("users", "add", "bob", "--data", str(tmp_path), stdin="correct horse\n")
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"bob" in kept
    assert b"correct horse" not in kept


def test_an_empty_password_is_refused(tmp_path: Path) -> None:
    done = run("users", "add", "bob", "--data", str(tmp_path), stdin="\n")
    assert done.code == 1
    assert "password is empty" in done.stderr
    assert run("users", "list", "--data", str(tmp_path)).stdout == ""


def test_too_few_rounds_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        run("users", "add", "bob", "--iterations", "10", "--data", str(tmp_path), stdin="x\n")


def test_the_first_user_can_log_in_once_the_broker_runs(tmp_path: Path) -> None:
    run("users", "add", "first", "--data", str(tmp_path), stdin="a,b=c\n")

    async def log_in(mechanism: str) -> int:
        startup = read_startup({**settings(), "log.dirs": str(tmp_path)})
        async with running(startup, Ports()) as broker:
            servers = f"127.0.0.1:{broker.ports['SASL_PLAINTEXT']}"
            async with Admin(client(servers, mechanism, "first", "a,b=c")) as admin:
                return len((await admin.describe_cluster()).brokers)

    assert asyncio.run(log_in("SCRAM-SHA-256")) == 1
    assert asyncio.run(log_in("SCRAM-SHA-512")) == 1


def test_users_of_a_broker_that_runs_are_asked_for_there(bootstrap: str) -> None:
    assert run("users", "add", "carol", bootstrap, stdin="secret\n").stdout == "Added user carol.\n"
    assert "carol\tSCRAM-SHA-256, SCRAM-SHA-512\n" in run("users", "list", bootstrap).stdout
    assert run("users", "remove", "carol", bootstrap).stdout == "Removed user carol.\n"
    assert run("users", "remove", "carol", bootstrap).code == 1


def test_looking_for_users_makes_no_store(tmp_path: Path) -> None:
    data = ("--data", str(tmp_path / "mistyped"))
    assert run("users", "list", *data) == (0, "", "")
    assert run("users", "remove", "bob", *data).stderr == "There is no user bob.\n"
    assert not (tmp_path / "mistyped").exists()


def test_a_user_without_a_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        run("users", "add", "", "--data", str(tmp_path), stdin="x\n")


def test_the_store_of_a_broker_that_runs_is_left_alone(broker: EmbeddedBroker) -> None:
    done = run("users", "list", "--data", str(broker.directory))
    assert done.code == 1
    assert "name it with --bootstrap-server" in done.stderr
