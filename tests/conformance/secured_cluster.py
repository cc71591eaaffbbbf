"""What a cluster needs whose brokers and clients log in over TLS: keys, users, settings.

Everything is in the tree, and the same for brokers of either kind.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from certificates import authority, identity
from conformance.apache.broker import free_port
from conformance.our_broker import OurBroker
from conformance.our_cluster import OurCluster
from moldau import Producer
from moldau.errors import TopicAuthorizationFailed
from unit.cli.command import run

MECHANISM = "SCRAM-SHA-256"
PASSWORDS = {"broker": "of-brokers", "anna": "sesam", "eve": "apple"}


class Keys:
    """Certificates of a cluster, and settings of those who belong to it."""

    def __init__(self, folder: Path) -> None:
        ca = authority()
        self.trust = str(folder / "ca.pem")
        Path(self.trust).write_text(ca.certificate_pem)
        self._store = identity(ca, "broker").write(folder / "broker.pem")
        self._ports: dict[int, int] = {}

    def of_broker(self, broker: OurBroker) -> dict[str, str]:
        port = self.port_beside(broker.port)
        module = "org.apache.kafka.common.security.scram.ScramLoginModule"
        own = f'username="broker" password="{PASSWORDS["broker"]}"'
        return {
            "listeners": f"PLAINTEXT://127.0.0.1:{broker.port},SASL_SSL://127.0.0.1:{port}",
            "security.inter.broker.protocol": "SASL_SSL",
            "sasl.enabled.mechanisms": MECHANISM,
            "sasl.mechanism.inter.broker.protocol": MECHANISM,
            "listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config": f"{module} required {own};",
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": self._store,
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": self.trust,
            "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
            "super.users": "User:broker",
            "delegation.token.secret.key": "of all tokens",
        }

    def port_of(self, broker: OurBroker) -> int:
        """Where a broker listens for TLS."""
        return self.port_beside(broker.port)

    def port_beside(self, port: int) -> int:
        """Where a broker listens for TLS, whichever kind it is of."""
        if port not in self._ports:
            taken = {*self._ports, *self._ports.values(), port}
            self._ports[port] = next(each for each in iter(free_port, -1) if each not in taken)
        return self._ports[port]

    def servers(self, cluster: OurCluster, *numbers: int) -> str:
        brokers = cluster.brokers
        ports = [self._ports[brokers[each].port] for each in numbers or brokers]
        return ",".join(f"127.0.0.1:{port}" for port in ports)

    def client(self, servers: str, user: str, password: str = "") -> dict[str, str]:
        return {
            "bootstrap.servers": servers,
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": MECHANISM,
            "sasl.username": user,
            "sasl.password": password or PASSWORDS[user],
            "ssl.truststore.location": self.trust,
        }

    def of_librdkafka(self, user: str) -> dict[str, str]:
        own = self.client("", user)
        del own["bootstrap.servers"]
        own["ssl.ca.location"] = own.pop("ssl.truststore.location")
        return own


def make_users(connect: str) -> None:
    """Passwords in the tree, before the first broker starts."""
    for user, password in PASSWORDS.items():
        entity = ("--entity-type", "users", "--entity-name", user)
        secret = ("--add-config", f"{MECHANISM}=[password={password}]")
        assert run("configs", "--zookeeper", connect, "--alter", *entity, *secret).code == 0


async def allowed_partitions(client: Mapping[str, str], topic: str, partitions: int) -> int:
    """How many partitions a client may write to; in a whole cluster each broker leads one."""
    count = 0
    async with Producer[bytes, bytes](client, enable_idempotence=False) as producer:
        for partition in range(partitions):
            with suppress(TopicAuthorizationFailed):
                await producer.send_and_wait(topic, b"0", partition=partition)
                count += 1
    return count
