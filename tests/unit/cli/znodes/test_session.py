"""A session with ZooKeeper for as long as a command runs."""

import pytest

from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.znodes import session
from moldau.cli.znodes.session import tls_of, zookeeper_session


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
