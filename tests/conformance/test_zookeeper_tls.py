"""A broker that speaks to ZooKeeper over TLS, each side knowing who the other is."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from certificates import Identity, authority, identity
from conformance.apache.broker import answers_srvr, free_port, launch_zookeeper
from conformance.apache.marks import needs_apache
from conformance.our_broker import OurBroker
from conformance.our_cluster import until
from moldau.protocol.messages.metadata import MetadataRequest
from moldau.testing.wire import WireClient
from unit.cli.command import run

pytestmark = needs_apache("kafka-3.9")

PASSWORD = "changeit"


@dataclass(frozen=True, slots=True)
class SecureServer:
    port: int
    trusted: Identity


@pytest.fixture
def server(tmp_path: Path) -> Iterator[SecureServer]:
    trusted = authority()
    directory = tmp_path / "zookeeper"
    directory.mkdir()
    store = identity(trusted, "zookeeper").write_pkcs12(directory / "server.p12", PASSWORD)
    trust = directory / "trusted.pem"
    trust.write_text(trusted.certificate_pem)
    plain, secure = free_port(), free_port()
    process = launch_zookeeper(
        directory,
        f"clientPort={plain}\nsecureClientPort={secure}\n"
        "serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory\n"
        f"ssl.keyStore.location={store}\nssl.keyStore.password={PASSWORD}\n"
        f"ssl.trustStore.location={trust}\n",
    )
    try:
        until(lambda: answers_srvr(plain), "ZooKeeper serves")
        yield SecureServer(secure, trusted)
    finally:
        process.kill()
        process.wait()


def broker(server: SecureServer, directory: Path, issuer: Identity) -> OurBroker:
    """A broker that this issuer vouches for."""
    directory.mkdir()
    trust = directory / "trusted.pem"
    trust.write_text(server.trusted.certificate_pem)
    settings = {
        "zookeeper.connect": f"127.0.0.1:{server.port}",
        "zookeeper.connection.timeout.ms": "5000",
        "zookeeper.clientCnxnSocket": "org.apache.zookeeper.ClientCnxnSocketNetty",
        "zookeeper.ssl.client.enable": "true",
        "zookeeper.ssl.truststore.location": str(trust),
        "zookeeper.ssl.keystore.location": identity(issuer, "broker").write(
            directory / "broker.pem"
        ),
    }
    return OurBroker(directory, settings)


def test_a_broker_joins_over_tls(server: SecureServer, tmp_path: Path) -> None:
    ours = broker(server, tmp_path / "broker", server.trusted)
    ours.start()
    try:
        with WireClient(ours.bootstrap) as client:
            metadata = client.ask(MetadataRequest(topics=[]))
        assert [one.node_id for one in metadata.brokers] == [1001]
        file = tmp_path / "shell.properties"
        lines = (f"{name}={value}\n" for name, value in ours.settings.items())
        file.write_text("".join(line for line in lines if line.startswith("zookeeper.ssl.")))
        shell = ("zookeeper-shell", f"localhost:{server.port}", "-zk-tls-config-file", str(file))
        assert "[1001]" in run(*shell, "ls", "/brokers/ids").stdout.splitlines()
    finally:
        ours.stop()


def test_a_broker_that_nobody_vouches_for_is_not_let_in(
    server: SecureServer, tmp_path: Path
) -> None:
    stranger = broker(server, tmp_path / "stranger", authority())
    with pytest.raises(RuntimeError, match="Failed to connect to ZooKeeper at"):
        stranger.start()
