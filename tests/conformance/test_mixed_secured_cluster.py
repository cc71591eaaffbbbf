"""Apache Kafka and our brokers in one cluster with TLS, logins, access rules and quotas.

Brokers log in to each other by SCRAM over TLS. What one kind writes into ZooKeeper, users,
rules, quotas and tokens, the other kind must heed, before a broker is replaced and after.
"""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from certificates import authority, identity
from conformance.apache.broker import free_port
from conformance.apache.marks import needs_apache
from conformance.our_broker import OurBroker
from conformance.our_cluster import until
from conformance.test_mixed_cluster import (
    PARTITIONS,
    TOPIC,
    Load,
    MixedCluster,
    consumed,
    mixed_cluster,
)
from moldau import Admin, Producer
from moldau.client.admin.quotas import QuotaEntity
from moldau.client.admin.tokens import DelegationToken
from moldau.client.admin.topics import NewTopic
from moldau.errors import SaslAuthenticationFailed, TopicAuthorizationFailed
from moldau.security.acls import Acl, AclFilter, Operation, ResourceType
from unit.cli.command import run

pytestmark = needs_apache("kafka-3.9")

EVES = "eves"
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
        port = self._port_beside(broker.port)
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

    def _port_beside(self, port: int) -> int:
        """Where a broker listens for TLS, whichever kind it is of."""
        if port not in self._ports:
            taken = {*self._ports, *self._ports.values(), port}
            self._ports[port] = next(each for each in iter(free_port, -1) if each not in taken)
        return self._ports[port]

    def servers(self, cluster: MixedCluster, *numbers: int) -> str:
        brokers = cluster.ours.brokers
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


def rule(operation: Operation, kind: ResourceType, name: str) -> Acl:
    return Acl(resource_type=kind, resource_name=name, principal="User:anna", operation=operation)


RULES = [
    rule(Operation.WRITE, ResourceType.TOPIC, TOPIC),
    rule(Operation.READ, ResourceType.TOPIC, TOPIC),
    rule(Operation.READ, ResourceType.GROUP, "g"),
]


async def administer(client: Mapping[str, str]) -> None:
    """A topic, Anna's rights, and a quota that she does not reach."""
    async with Admin(client) as admin:
        topics = [NewTopic(name, PARTITIONS, 3) for name in (TOPIC, EVES)]
        (await admin.create_topics(topics)).check()
        (await admin.create_acls(RULES)).check()
        anna: QuotaEntity = (("user", "anna"),)
        quota: dict[QuotaEntity, dict[str, float | None]] = {
            anna: {"producer_byte_rate": 50_000_000.0}
        }
        (await admin.alter_client_quotas(quota)).check()


async def allowed_partitions(client: Mapping[str, str]) -> int:
    """How many partitions a client may write to; each kind of broker leads one at least."""
    count = 0
    async with Producer[bytes, bytes](client, enable_idempotence=False) as producer:
        for partition in range(PARTITIONS):
            with suppress(TopicAuthorizationFailed):
                await producer.send_and_wait(EVES, b"0", partition=partition)
                count += 1
    return count


async def token_at(client: Mapping[str, str]) -> DelegationToken:
    async with Admin(client) as admin:
        return await admin.create_delegation_token()


async def is_known(client: Mapping[str, str]) -> bool:
    try:
        async with Admin({**client, "sasl.tokenauth": "true"}):
            return True
    except SaslAuthenticationFailed:
        return False


async def rules_of_eve(client: Mapping[str, str]) -> None:
    eves = Acl(
        resource_type=ResourceType.TOPIC,
        resource_name=EVES,
        principal="User:eve",
        operation=Operation.WRITE,
    )
    async with Admin(client) as admin:
        (await admin.create_acls([eves])).check()


async def without_rules_of_eve(client: Mapping[str, str]) -> None:
    async with Admin(client) as admin:
        (await admin.delete_acls([AclFilter(principal="User:eve")])).check()


@contextmanager
def secured_cluster(directory: Path) -> Iterator[tuple[MixedCluster, Keys]]:
    """A cluster whose users were made in ZooKeeper, before the first broker."""
    keys = Keys(directory)
    with mixed_cluster(directory, "3.9", keys.of_broker) as cluster:
        for user, password in PASSWORDS.items():
            entity = ("--entity-type", "users", "--entity-name", user)
            secret = ("--add-config", f"{MECHANISM}=[password={password}]")
            where = ("--zookeeper", cluster.ours.connect)
            assert run("configs", *where, "--alter", *entity, *secret).code == 0
        yield cluster, keys


def test_a_secured_cluster_moves_from_apache_to_us_and_back_under_load(tmp_path: Path) -> None:
    with secured_cluster(tmp_path) as (cluster, keys):
        ours = cluster.ours
        cluster.start_apache(1)
        ours.brokers[2].start()
        ours.brokers[3].start()
        asyncio.run(administer(keys.client(keys.servers(cluster, 1), "broker")))
        ours.until_in_sync(TOPIC, PARTITIONS)
        everywhere = keys.servers(cluster)
        load = Load(everywhere, keys.of_librdkafka("anna"))
        load.wait_for_more()
        tokens_are_shared(cluster, keys, made_at=1, used_at=2)
        tokens_are_shared(cluster, keys, made_at=2, used_at=1)
        eve = keys.client(everywhere, "eve")
        assert asyncio.run(allowed_partitions(eve)) == 0
        cluster.take_from_apache()
        load.wait_for_more()
        cluster.give_to_apache(2)
        load.wait_for_more()
        # One kind grants and takes away, the other obeys, whoever leads.
        asyncio.run(rules_of_eve(keys.client(keys.servers(cluster, 2), "broker")))
        until(lambda: asyncio.run(allowed_partitions(eve)) == PARTITIONS, "all let Eve write")
        asyncio.run(without_rules_of_eve(keys.client(keys.servers(cluster, 3), "broker")))
        until(lambda: asyncio.run(allowed_partitions(eve)) == 0, "nobody lets Eve write")
        load.finish()
        assert load.errors == []
        values = consumed(everywhere, len(load.acknowledged), keys.of_librdkafka("anna"))
        assert sorted(values) == sorted(load.acknowledged)


def tokens_are_shared(cluster: MixedCluster, keys: Keys, *, made_at: int, used_at: int) -> None:
    token = asyncio.run(token_at(keys.client(keys.servers(cluster, made_at), "anna")))
    own = keys.client(keys.servers(cluster, used_at), token.token_id, token.password)
    until(lambda: asyncio.run(is_known(own)), f"broker {used_at} knows a token of {made_at}")
