"""A cluster that is guarded: TLS and logins on the way, access rules and quotas behind it.

Brokers and librdkafka log in by SCRAM over TLS. The small clients of the simulation, which speak
neither, come in by a plain listener, and what they may do is a rule as well.
"""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from confluent_kafka import Producer, ThrottleEvent
from kazoo.client import KazooClient

from conformance.our_broker import OurBroker
from conformance.our_cluster import OurCluster
from conformance.secured_cluster import Keys, allowed_partitions, make_users
from faults.librdkafka import Way
from faults.load import PARTITIONS
from moldau import Admin
from moldau.client.admin.quotas import QuotaEntity
from moldau.client.admin.topics import NewTopic
from moldau.security.acls import Acl, Operation, ResourceType
from simulation.client import TOPIC

_SMALL_CLIENTS, _LOAD, _INTRUDER = "User:ANONYMOUS", "anna", "eve"
_SLOW = SLOW_TOPIC = "slow"
_EVERYTHING = (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID)
# Ten seconds' worth pass at once: a record is more.
_SLOW_BYTES_PER_S = 2_000
_RECORD = bytes(40_000)
_FLUSH_S = 30.0


class Guard:
    """What a cluster is guarded by, and whether it still is."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._keys = Keys(directory)

    def settings_of(self, broker: OurBroker) -> Mapping[str, str]:
        """Those of a broker of either kind."""
        return self._keys.of_broker(broker)

    def admit(self, connect: str) -> None:
        """Let there be users, before there are brokers."""
        server, _, root = connect.partition("/")
        tree = KazooClient(server)
        tree.start()
        tree.ensure_path(f"/{root}")
        tree.stop()
        tree.close()
        make_users(connect)

    def set_rules(self, cluster: OurCluster) -> None:
        """Rules and quotas, before there are topics."""
        asyncio.run(self._set_rules(cluster))

    def way(self, cluster: OurCluster) -> Way:
        """How librdkafka comes in."""
        return Way(self._keys.servers(cluster), self._keys.of_librdkafka(_LOAD))

    def check(self, cluster: OurCluster) -> None:
        """Nobody who may not write can, and who has had enough is slowed down, at every leader."""
        eve = self._keys.client(self._keys.servers(cluster), _INTRUDER)
        assert asyncio.run(allowed_partitions(eve, TOPIC, PARTITIONS)) == 0, "Eve may write"
        leaders = {cluster.state(SLOW_TOPIC, each).leader: each for each in range(PARTITIONS)}
        assert self._slowed_by(cluster, leaders) == set(leaders), "a leader has no quotas"

    async def _set_rules(self, cluster: OurCluster) -> None:
        rules = [
            _rule(who, kind, "*")
            for who in (_SMALL_CLIENTS, f"User:{_LOAD}")
            for kind in _EVERYTHING
        ]
        rules.append(_rule(_SMALL_CLIENTS, ResourceType.CLUSTER, "kafka-cluster"))
        # What the slow client writes is not in the load's history.
        slow = NewTopic(SLOW_TOPIC, PARTITIONS, 3)
        quota: dict[QuotaEntity, dict[str, float | None]] = {
            (("user", _LOAD),): {"producer_byte_rate": 50_000_000.0},
            (("user", _LOAD), ("client-id", _SLOW)): {"producer_byte_rate": _SLOW_BYTES_PER_S},
        }
        async with Admin(self._keys.client(self._keys.servers(cluster), "broker")) as admin:
            (await admin.create_acls(rules)).check()
            (await admin.alter_client_quotas(quota)).check()
            (await admin.create_topics([slow])).check()

    def _slowed_by(self, cluster: OurCluster, leaders: Mapping[int, int]) -> set[int]:
        """The leaders, with a partition of each, that make a client wait which writes too much.

        One record to each: the answer comes at once, and says how long the next one would wait.
        """
        found: set[int] = set()

        def note(event: ThrottleEvent) -> None:
            found.add(event.broker_id)

        own = {**self._keys.of_librdkafka(_LOAD), "client.id": _SLOW, "throttle_cb": note}
        producer = Producer({"bootstrap.servers": self._keys.servers(cluster), **own})
        for partition in leaders.values():
            producer.produce(SLOW_TOPIC, _RECORD, partition=partition)
        assert producer.flush(_FLUSH_S) == 0, "the first record is answered at once"
        producer.poll(0.2)
        return found


def _rule(who: str, kind: ResourceType, name: str) -> Acl:
    return Acl(resource_type=kind, resource_name=name, principal=who, operation=Operation.ALL)
