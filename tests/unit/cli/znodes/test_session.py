"""A session with ZooKeeper for as long as a command runs."""

import pytest

from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.znodes import session
from moldau.cli.znodes.session import tls_of, zookeeper_session
from moldau.coordination.layout.documents import NodeDataError
from moldau.coordination.memory import MemoryEnsemble
from moldau.coordination.tree import (
    BadVersion,
    ConnectionLost,
    NodeExists,
    NoNode,
    NotAllowed,
    NotEmpty,
    Tree,
)
from unit.broker.world import SettableClock


def test_a_session_is_encrypted_if_the_file_says_so() -> None:
    assert tls_of({}) is None
    assert tls_of({"zookeeper.ssl.truststore.location": "nowhere"}) is None
    settings = {
        "zookeeper.ssl.client.enable": "true",
        "zookeeper.ssl.endpoint.identification.algorithm": "",
        "zookeeper.clientCnxnSocket": "org.apache.zookeeper.ClientCnxnSocketNetty",
    }
    context = tls_of(settings)
    assert context is not None
    assert not context.check_hostname


async def test_without_zookeeper_it_is_said_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "_CONNECT_MS", 50)
    with pytest.raises(CommandFailed, match="use --bootstrap-server localhost:9092 instead"):
        async with zookeeper_session("127.0.0.1:1"):
            pass


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (NoNode("/brokers/topics"), "there is no node /brokers/topics"),
        (NotAllowed("/config"), "the login may not touch node /config"),
        (NodeExists("/a"), "node /a exists already"),
        (NotEmpty("/a"), "node /a has children"),
        (BadVersion("/a"), "node /a was changed by somebody else"),
        (ConnectionLost("gone"), "gone"),
        (NodeDataError("no field 'version'"), "failed to parse the data of a node: no field"),
    ],
)
async def test_what_zookeeper_refuses_on_the_way_is_told_in_one_line(
    error: Exception, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def open_session(*_: object) -> Tree:
        return MemoryEnsemble(SettableClock()).connect()

    monkeypatch.setattr(session, "open_session", open_session)
    with pytest.raises(CommandFailed, match=f"ZooKeeper at here:2181: {told}"):
        async with zookeeper_session("here:2181"):
            raise error
