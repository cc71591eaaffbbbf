"""Elections as a node of ZooKeeper: what `kafka-preferred-replica-election.sh` did before 2.4."""

from collections.abc import Iterable, Sequence

from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.znodes.session import zookeeper_session
from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.layout.partitions import PREFERRED_ELECTION_PATH, encode_partitions
from moldau.coordination.tree import Create, NodeExists, Tree
from moldau.model import TopicPartition


async def elect_with_zookeeper(servers: str, partitions: Sequence[TopicPartition] | None) -> None:
    """Ask the controller for an election, of all partitions if none are named."""
    async with zookeeper_session(servers) as tree:
        await elect(tree, partitions)


async def elect(tree: Tree, partitions: Sequence[TopicPartition] | None) -> None:
    """Write the node that the controller looks at and takes away."""
    known = await _partitions(tree)
    wanted = known if partitions is None else [each for each in partitions if each in known]
    try:
        await tree.create(Create(PREFERRED_ELECTION_PATH, encode_partitions(wanted)))
    except NodeExists:
        raise CommandFailed(
            "Failed to start preferred replica election: Preferred replica leader election "
            "currently in progress. Aborting operation"
        ) from None
    print(f"Created preferred replica election path with {_listed(wanted, ',')}")
    print(f"Successfully started preferred replica election for partitions Set({_listed(wanted)})")
    for each in partitions or ():
        if each not in known:
            print(
                f"Skipping preferred replica leader election for partition {each} "
                "since it doesn't exist."
            )


async def _partitions(tree: Tree) -> list[TopicPartition]:
    found: list[TopicPartition] = []
    for topic in sorted(await tree.children(topic_nodes.PATH)):
        node = await tree.get(topic_nodes.topic_path(topic))
        numbers = sorted(topic_nodes.decode_topic(node.data).partitions)
        found += [TopicPartition(topic, number) for number in numbers]
    return found


def _listed(partitions: Iterable[TopicPartition], comma: str = ", ") -> str:
    return comma.join(map(str, partitions))
