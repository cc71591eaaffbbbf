"""What the brokers have in the end: their logs, side by side, and what they believe."""

from collections.abc import Iterable, Sequence
from zlib import crc32

from moldau.coordination.layout import controller as controller_nodes
from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.tree import Create, Operation, SetData
from moldau.log.log import Log
from moldau.model import TopicPartition
from moldau.records.batch import iterate_headers
from moldau.testing.world.world import World
from simulation.cluster import SimulatedBroker
from simulation.history import Batch, History, Leadership


def observe(operations: Sequence[Operation], history: History) -> None:
    """Note who is made leader and controller, as it is written to the tree."""
    for operation in operations:
        if not isinstance(operation, Create | SetData):
            continue
        if operation.path == controller_nodes.EPOCH_PATH:
            epoch = controller_nodes.decode_epoch(operation.data)
            if epoch > 0:
                history.controller_epochs.append(epoch)
        elif operation.path.startswith(topic_nodes.PATH) and operation.path.endswith("/state"):
            state = topic_nodes.decode_state(operation.data)
            partition = operation.path.removeprefix(topic_nodes.PATH).removesuffix("/state")
            history.leaderships.append(Leadership(partition, state.leader_epoch, state.leader))


def unsettled(world: World, brokers: Sequence[SimulatedBroker]) -> str:
    """Why the cluster is not yet what it should be without faults; empty if it is."""
    for broker in brokers:
        if not broker.machine.is_up or broker.running is None:
            return f"{broker.machine.name} does not run"
    for topic in world.ensemble.nodes.children(topic_nodes.PATH):
        for number in world.ensemble.nodes.children(topic_nodes.partitions_path(topic)):
            found = _unsettled(world, brokers, TopicPartition(topic, int(number)))
            if found:
                return found
    return ""


def _unsettled(world: World, brokers: Sequence[SimulatedBroker], partition: TopicPartition) -> str:
    node = world.ensemble.nodes.get(topic_nodes.state_path(partition))
    state = topic_nodes.decode_state(node.data)
    logs = dict(_logs_of(brokers, partition))
    if sorted(logs) != sorted(state.isr):
        return f"{partition}: replicas {sorted(logs)}, in sync {sorted(state.isr)}"
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


def note_replicas(brokers: Sequence[SimulatedBroker], history: History) -> None:
    """Read every log of every broker."""
    for broker in brokers:
        assert broker.running is not None
        for log in broker.running.broker.logs:
            history.replicas.setdefault(str(log.partition), {})[broker.id] = _batches(log)


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
