"""Brokers that everyone logs in to, with access rules that hold whatever fails.

The usual clients have their rights by rules in the tree, which are there before the brokers are.
An intruder, who can log in and may do nothing, tries all the time: nothing may ever succeed.
Another administrator adds and removes rules meanwhile, so that decisions are made anew.
"""

import asyncio

from moldau.coordination.acl_nodes import AclNodes
from moldau.coordination.layout.acls import AclEntry, ResourcePattern
from moldau.coordination.tree import Tree
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.create_acls import (
    AclCreation,
    CreateAclsRequest,
    CreateAclsResponse,
)
from moldau.protocol.messages.delete_acls import (
    DeleteAclsFilter,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from moldau.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
)
from moldau.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from moldau.records.batch import write_batch
from moldau.records.record import Record
from moldau.security.acls import Operation, PatternType, Permission, ResourceType
from simulation.client import START_MS, TOPIC, Client, insist, require
from simulation.history import History

BROKER, CLIENT, INTRUDER = "broker", "client", "intruder"
PASSWORD = "sesam"
_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
_USERS = " ".join(f'user_{name}="{PASSWORD}"' for name in (BROKER, CLIENT, INTRUDER))
SETTINGS = {
    "security.inter.broker.protocol": "SASL_PLAINTEXT",
    "sasl.enabled.mechanisms": "PLAIN",
    "sasl.mechanism.inter.broker.protocol": "PLAIN",
    "listener.name.sasl_plaintext.plain.sasl.jaas.config": (
        f'{_MODULE} required username="{BROKER}" password="{PASSWORD}" {_USERS};'
    ),
    "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
    "super.users": f"User:{BROKER}",
}
_RESOURCES = ("Topic", "Group", "TransactionalId")
_CLUSTER = "kafka-cluster"
_TRY_S = 2.0
_CHANGE_S = 5.0
_DENIED = (ErrorCode.TOPIC_AUTHORIZATION_FAILED,)


async def write_rules(tree: Tree) -> None:
    """Let the usual clients do everything: by rules, not as super users."""
    nodes = AclNodes(tree)
    await nodes.create_roots()
    everything = [AclEntry(f"User:{CLIENT}", "Allow", "All", "*")]
    patterns = [ResourcePattern(kind, "*") for kind in _RESOURCES]
    for pattern in (*patterns, ResourcePattern("Cluster", _CLUSTER)):
        await nodes.change(pattern, lambda _before: everything)


class Intruder:
    """Tries to write and to read; notes a surprise if that is ever more than denied."""

    def __init__(self, client: Client, history: History, partition_count: int) -> None:
        self._client = client
        self._history = history
        self._partition_count = partition_count
        self._written_count = 0

    async def run(self, until_s: float) -> None:
        loop, chance = asyncio.get_running_loop(), self._client.chance
        while loop.time() < until_s:
            await asyncio.sleep(_TRY_S * chance.random())
            partition = chance.randrange(self._partition_count)
            try:
                for code in (await self._write(partition), await self._read(partition)):
                    self._judge(code)
            except KafkaError:
                await self._client.back_off()
        self._client.close()

    def _judge(self, code: int) -> None:
        if code in _DENIED:
            self._history.denied_count += 1
        else:
            self._history.surprises.append(f"the intruder was answered {ErrorCode(code).name}")

    async def _write(self, partition: int) -> int:
        self._written_count += 1
        value = f"{INTRUDER}#{self._written_count}".encode()
        batch = write_batch([Record(0, START_MS, None, value, ())])
        data = PartitionProduceData(index=partition, records=batch)
        request = ProduceRequest(
            acks=-1,
            timeout_ms=3_000,
            topic_data=[TopicProduceData(name=TOPIC, partition_data=[data])],
        )
        answer = await self._client.ask_any(request, ProduceResponse, 9)
        return answer.responses[0].partition_responses[0].error_code

    async def _read(self, partition: int) -> int:
        wanted = FetchPartition(partition=partition, fetch_offset=0, partition_max_bytes=1_000)
        request = FetchRequest(
            max_wait_ms=100,
            min_bytes=1,
            topics=[FetchTopic(topic=TOPIC, partitions=[wanted])],
        )
        answer = await self._client.ask_any(request, FetchResponse, 12)
        return answer.responses[0].partitions[0].error_code


async def change_rules(client: Client, until_s: float) -> None:
    """Add a rule that gives the intruder nothing of interest, and remove it, again and again."""
    loop = asyncio.get_running_loop()
    while loop.time() < until_s:
        await asyncio.sleep(_CHANGE_S * client.chance.random())
        await insist(lambda: _add_rule(client), client)
        await asyncio.sleep(_CHANGE_S * client.chance.random())
        await insist(lambda: _remove_rule(client), client)
    client.close()


async def _add_rule(client: Client) -> None:
    rule = AclCreation(
        resource_type=ResourceType.TOPIC,
        resource_name="other",
        resource_pattern_type=PatternType.PREFIXED,
        principal=f"User:{INTRUDER}",
        host="*",
        operation=Operation.ALL,
        permission_type=Permission.ALLOW,
    )
    answer = await client.ask_any(CreateAclsRequest(creations=[rule]), CreateAclsResponse, 2)
    require(answer.results[0].error_code)


async def _remove_rule(client: Client) -> None:
    meant = DeleteAclsFilter(
        resource_type_filter=ResourceType.TOPIC,
        resource_name_filter="other",
        pattern_type_filter=PatternType.PREFIXED,
        principal_filter=None,
        host_filter=None,
        operation=Operation.ANY,
        permission_type=Permission.ANY,
    )
    answer = await client.ask_any(DeleteAclsRequest(filters=[meant]), DeleteAclsResponse, 2)
    require(answer.filter_results[0].error_code)
