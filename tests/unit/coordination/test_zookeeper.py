"""The tree on ZooKeeper, as far as it goes without one; tests/conformance has the rest."""

import socket

import pytest
from kazoo import exceptions

from moldau.coordination.tree import (
    BadVersion,
    Check,
    ConnectionLost,
    Create,
    NotAllowed,
    Operation,
    SessionError,
    SessionLost,
)
from moldau.coordination.zookeeper import ZooKeeperTree, _multi_results, _translate
from moldau.errors import InvalidConfig


async def test_no_server_is_told_in_time() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    with pytest.raises(
        ConnectionLost, match=f"to ZooKeeper at 127.0.0.1:{port}: connection refused"
    ):
        await ZooKeeperTree.open(
            f"127.0.0.1:{port}/base",
            session_timeout_ms=2000,
            connect_timeout_ms=200,
            requests_max=10,
        )


async def test_a_host_that_is_not_known_is_named() -> None:
    with pytest.raises(ConnectionLost, match=r"host\.invalid:1: host\.invalid: "):
        await ZooKeeperTree.open(
            "host.invalid:1", session_timeout_ms=2000, connect_timeout_ms=200, requests_max=10
        )


async def test_a_port_that_is_no_number_is_refused() -> None:
    with pytest.raises(InvalidConfig, match="ZooKeeper at host:x: host:port is expected"):
        await ZooKeeperTree.open(
            "host:x", session_timeout_ms=2000, connect_timeout_ms=200, requests_max=10
        )


async def test_a_server_that_does_not_answer_is_told_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(ConnectionLost, match=f"127.0.0.1:{port}: no answer within 0.2 s"):
            await ZooKeeperTree.open(
                f"127.0.0.1:{port}",
                session_timeout_ms=2000,
                connect_timeout_ms=200,
                requests_max=10,
            )


@pytest.mark.parametrize(
    ("kazoo_error", "error"),
    [
        (exceptions.BadVersionError(), BadVersion),
        (exceptions.NoAuthError(), NotAllowed),
        (exceptions.ConnectionLoss(), ConnectionLost),
        (exceptions.SessionExpiredError(), SessionLost),
        (exceptions.ConnectionClosedError(), SessionLost),
        (exceptions.AuthFailedError(), SessionError),
    ],
)
def test_every_error_has_its_name_in_the_port(
    kazoo_error: exceptions.KazooException, error: type[SessionError]
) -> None:
    assert type(_translate(kazoo_error, "/a")) is error


def test_the_operation_that_failed_is_told_not_those_that_were_undone() -> None:
    operations: list[Operation] = [Create("/a"), Check("/b", 3), Create("/c")]
    answers = [
        exceptions.RolledBackError(),
        exceptions.BadVersionError(),
        exceptions.RuntimeInconsistency(),
    ]
    with pytest.raises(BadVersion) as failed:
        _multi_results(operations, answers)
    assert (failed.value.path, failed.value.index) == ("/b", 1)


def test_a_failure_that_the_port_has_no_name_for_is_not_taken_for_success() -> None:
    with pytest.raises(SessionError, match="InvalidACLError"):
        _multi_results([Create("/a")], [exceptions.InvalidACLError()])
