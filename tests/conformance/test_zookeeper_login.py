"""A broker that logs in to ZooKeeper, whose nodes then belong to it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from kazoo.client import KazooClient
from kazoo.exceptions import NoAuthError
from kazoo.security import ACL, ANYONE_ID_UNSAFE, Id, Permissions

from conformance.apache.broker import answers_srvr, free_port, launch_zookeeper
from conformance.apache.marks import needs_apache
from conformance.our_broker import OurBroker
from conformance.our_cluster import until

pytestmark = needs_apache("kafka-3.9")

DIGEST = "org.apache.zookeeper.server.auth.DigestLoginModule"
OWNER = ACL(Permissions.ALL, Id("sasl", "kafka"))
READERS = ACL(Permissions.READ, ANYONE_ID_UNSAFE)
EVERYONE = ACL(Permissions.ALL, ANYONE_ID_UNSAFE)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[int]:
    """A ZooKeeper that knows the user kafka; its port."""
    directory = tmp_path / "zookeeper"
    directory.mkdir()
    users = directory / "users.conf"
    users.write_text(f'Server {{ {DIGEST} required user_kafka="sesam"; }};\n')
    port = free_port()
    process = launch_zookeeper(
        directory,
        f"clientPort={port}\n"
        "authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider\n",
        [f"-Djava.security.auth.login.config={users}"],
    )
    try:
        until(lambda: answers_srvr(port), "ZooKeeper serves")
        yield port
    finally:
        process.kill()
        process.wait()


def broker(port: int, directory: Path, settings: dict[str, str]) -> OurBroker:
    return OurBroker(
        directory,
        {
            "zookeeper.connect": f"127.0.0.1:{port}/kafka",
            "zookeeper.set.acl": "true",
            "broker.id": "1",
            **settings,
        },
    )


def acls(tree: KazooClient, path: str) -> list[ACL]:
    found: list[ACL] = tree.get_acls(path)[0]
    return found


def test_nodes_have_the_acls_that_kafka_gives_them(
    server: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As with Apache's broker: the login file of Java.
    login = tmp_path / "jaas.conf"
    login.write_text(f'Client {{ {DIGEST} required username="kafka" password="sesam"; }};\n')
    monkeypatch.setenv("KAFKA_OPTS", f"-Djava.security.auth.login.config={login}")
    ours = broker(server, tmp_path / "broker", {})
    ours.start()
    tree = KazooClient(f"127.0.0.1:{server}/kafka")
    tree.start()
    try:
        for path in ("/", "/brokers/ids/1", "/controller", "/controller_epoch", "/config/topics"):
            assert acls(tree, path) == [OWNER, READERS], path
        assert acls(tree, "/consumers") == [EVERYONE]
        for path in ("/config/users", "/config/brokers"):
            with pytest.raises(NoAuthError):
                tree.get(path)
        with pytest.raises(NoAuthError):
            tree.set("/controller_epoch", b"7")
    finally:
        tree.stop()
        tree.close()
        ours.stop()


def test_a_wrong_password_is_told_at_once(server: int, tmp_path: Path) -> None:
    jaas = f'{DIGEST} required username="kafka" password="simsalabim";'
    stranger = broker(server, tmp_path / "stranger", {"moldau.zookeeper.sasl.jaas.config": jaas})
    with pytest.raises(RuntimeError, match="refuses the login: wrong user or password"):
        stranger.start()
