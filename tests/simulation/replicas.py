"""What the brokers have in the end: their logs, side by side, and what they believe."""

from collections.abc import Iterable, Mapping, Sequence
from zlib import crc32

from moldau.coordination.layout import controller as controller_nodes
from moldau.coordination.layout import partitions as partition_nodes
from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.layout.topics import PartitionAssignment, PartitionStateNode
from moldau.coordination.tree import Create, NoNode, Operation, SetData
from moldau.log.log import Log
from moldau.model import TopicPartition
from moldau.records.batch import iterate_headers
from moldau.testing.world.world import World
from simulation.client import LOOSE, TABLE
from simulation.cluster import SimulatedBroker
from simulation.history import Batch, History, Leadership
from simulation.tables import keyed_records


def observe(operations: Sequence[Operation], history: History) -> None:
    """Note who is made leader and controller, as it is written to the tree."""
    for operation in operations:
        if not isinstance(operation, Create | SetData) or operation.data is None:
            continue
        path, data = operation.path, operation.data
        if path == controller_nodes.EPOCH_PATH:
            epoch = controller_nodes.decode_epoch(data)
            if epoch > 0:
                history.controller_epochs.append(epoch)
        elif path.startswith(topic_nodes.PATH) and path.endswith("/state"):
            state = topic_nodes.decode_state(data)
            partition = path.removeprefix(topic_nodes.PATH).removesuffix("/state")
            if isinstance(operation, Create):
                history.creations[partition] = history.creations.get(partition, 0) + 1
            partition = f"{partition} ({history.creations[partition]})"
            history.leaderships.append(Leadership(partition, state.leader_epoch, state.leader))
        elif path.rpartition("/")[0] == topic_nodes.PATH:
            topic = path.rpartition("/")[2]
            for assignment in topic_nodes.decode_topic(data).partitions.values():
                history.assignments.append((topic, assignment.replicas))


def unsettled(world: World, brokers: Sequence[SimulatedBroker]) -> str:
    """Why the cluster is not yet what it should be without faults; empty if it is."""
    for broker in brokers:
        if not broker.machine.is_up or broker.running is None:
            return f"{broker.machine.name} does not run"
    nodes = world.ensemble.nodes
    deleting = nodes.children(partition_nodes.DELETE_TOPICS_PATH)
    if deleting:
        return f"{deleting} are not deleted yet"
    known = dict(_assignments(world))
    for partition, assignment in known.items():
        if partition.topic == LOOSE:
            continue  # a leader may have lost records, and written others in the same epoch
        if assignment.adding or assignment.removing:
            return f"{partition} is not moved yet: {assignment}"
        found = _unsettled(world, brokers, partition, assignment)
        if found:
            return found
    return _left_behind(brokers, known)


def _left_behind(
    brokers: Sequence[SimulatedBroker], known: Mapping[TopicPartition, PartitionAssignment]
) -> str:
    """A log that should have gone with its topic."""
    for broker in brokers:
        assert broker.running is not None
        for log in broker.running.broker.logs:
            if log.partition not in known:
                return f"{broker.machine.name} still has {log.partition}"
    return ""


def _assignments(world: World) -> Iterable[tuple[TopicPartition, PartitionAssignment]]:
    nodes = world.ensemble.nodes
    for topic in nodes.children(topic_nodes.PATH):
        data = nodes.get(topic_nodes.topic_path(topic)).data
        assert data is not None
        for number, assignment in topic_nodes.decode_topic(data).partitions.items():
            yield TopicPartition(topic, number), assignment


def _unsettled(
    world: World,
    brokers: Sequence[SimulatedBroker],
    partition: TopicPartition,
    assignment: PartitionAssignment,
) -> str:
    state = _state_of(world, partition)
    if state is None:
        return f"{partition} has no leader yet"
    logs = dict(_logs_of(brokers, partition))
    # A broker that was away when it lost a replica keeps the log, as with Kafka.
    logs = {broker: log for broker, log in logs.items() if broker in assignment.replicas}
    if not sorted(logs) == sorted(state.isr) == sorted(assignment.replicas):
        return f"{partition}: logs on {sorted(logs)}, in sync {state.isr}, wanted {assignment}"
    for broker in brokers:
        assert broker.running is not None
        image = broker.running.broker.metadata.image.partition(*partition)
        believed = None if image is None else (image.leader, image.leader_epoch)
        if believed != (state.leader, state.leader_epoch):
            return f"{partition}: {broker.machine.name} believes {believed}, not {state}"
    ends = {log.log_end_offset for log in logs.values()}
    marks = {log.high_watermark for log in logs.values()}
    if len(ends | marks) > 1:
        return f"{partition}: ends {ends}, high watermarks {marks}"
    return ""


def _state_of(world: World, partition: TopicPartition) -> PartitionStateNode | None:
    try:
        data = world.ensemble.nodes.get(topic_nodes.state_path(partition)).data
    except NoNode:
        return None
    assert data is not None
    return topic_nodes.decode_state(data)


def note_replicas(
    world: World, brokers: Sequence[SimulatedBroker], history: History, *, is_compacting: bool
) -> None:
    """Read the logs of all replicas."""
    for partition, assignment in _assignments(world):
        for broker, log in _logs_of(brokers, partition):
            if broker not in assignment.replicas:
                continue
            if partition == TopicPartition(TABLE, 0):
                history.tables[broker] = keyed_records(log)
            # Compacted logs have the same records, but not the same batches.
            if not (log.config.is_compacted and is_compacting):
                history.replicas.setdefault(str(partition), {})[broker] = _batches(log)


def _logs_of(
    brokers: Sequence[SimulatedBroker], partition: TopicPartition
) -> Iterable[tuple[int, Log]]:
    for broker in brokers:
        assert broker.running is not None
        log = broker.running.broker.logs.get(partition)
        if log is not None:
            yield broker.id, log


def _batches(log: Log) -> list[Batch]:
    batches = []
    for segment in log.segments:
        data = segment.file().read(0, segment.size)
        for position, header in iterate_headers(data):
            batches.append(
                Batch(
                    header.base_offset,
                    header.next_offset,
                    header.leader_epoch,
                    crc32(data[position : position + header.size]),
                    header.producer_id,
                    header.producer_epoch,
                    header.base_sequence,
                )
            )
    return batches
