"""Apache Kafka and our brokers in one cluster with TLS, logins, access rules and quotas.

Brokers log in to each other by SCRAM over TLS. What one kind writes into ZooKeeper, users,
rules, quotas and tokens, the other kind must heed, before a broker is replaced and after.
"""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from conformance.apache.marks import needs_apache
from conformance.our_cluster import until
from conformance.secured_cluster import Keys, allowed_partitions, make_users
from conformance.test_mixed_cluster import (
    PARTITIONS,
    TOPIC,
    Load,
    MixedCluster,
    consumed,
    mixed_cluster,
)
from moldau import Admin
from moldau.client.admin.quotas import QuotaEntity
from moldau.client.admin.tokens import DelegationToken
from moldau.client.admin.topics import NewTopic
from moldau.errors import SaslAuthenticationFailed
from moldau.security.acls import Acl, AclFilter, Operation, ResourceType

pytestmark = needs_apache("kafka-3.9")

EVES = "eves"


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
        make_users(cluster.ours.connect)
        yield cluster, keys


def test_a_secured_cluster_moves_from_apache_to_us_and_back_under_load(tmp_path: Path) -> None:
    with secured_cluster(tmp_path) as (cluster, keys):
        ours = cluster.ours
        cluster.start_apache(1)
        ours.brokers[2].start()
        ours.brokers[3].start()
        asyncio.run(administer(keys.client(keys.servers(cluster.ours, 1), "broker")))
        ours.until_in_sync(TOPIC, PARTITIONS)
        everywhere = keys.servers(ours)
        load = Load(everywhere, keys.of_librdkafka("anna"))
        load.wait_for_more()
        tokens_are_shared(cluster, keys, made_at=1, used_at=2)
        tokens_are_shared(cluster, keys, made_at=2, used_at=1)
        eve = keys.client(everywhere, "eve")
        assert asyncio.run(allowed_partitions(eve, EVES, PARTITIONS)) == 0
        cluster.take_from_apache()
        load.wait_for_more()
        cluster.give_to_apache(2)
        load.wait_for_more()
        # One kind grants and takes away, the other obeys, whoever leads.
        asyncio.run(rules_of_eve(keys.client(keys.servers(cluster.ours, 2), "broker")))
        until(
            lambda: asyncio.run(allowed_partitions(eve, EVES, PARTITIONS)) == PARTITIONS,
            "all let Eve write",
        )
        asyncio.run(without_rules_of_eve(keys.client(keys.servers(cluster.ours, 3), "broker")))
        until(
            lambda: asyncio.run(allowed_partitions(eve, EVES, PARTITIONS)) == 0,
            "nobody lets Eve write",
        )
        load.finish()
        assert load.errors == []
        values = consumed(everywhere, len(load.acknowledged), keys.of_librdkafka("anna"))
        assert sorted(values) == sorted(load.acknowledged)


def tokens_are_shared(cluster: MixedCluster, keys: Keys, *, made_at: int, used_at: int) -> None:
    token = asyncio.run(token_at(keys.client(keys.servers(cluster.ours, made_at), "anna")))
    own = keys.client(keys.servers(cluster.ours, used_at), token.token_id, token.password)
    until(lambda: asyncio.run(is_known(own)), f"broker {used_at} knows a token of {made_at}")
