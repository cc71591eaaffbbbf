"""Why partitions lack replicas or leaders."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from moldau.console.why.diagnosis import Diagnosis, LikelyCause, MendingRequest, command, some
from moldau.model import TopicPartition

if TYPE_CHECKING:
    from moldau.client.admin.topics import PartitionDescription, TopicDescription


@dataclass(frozen=True, slots=True)
class PartitionFacts:
    """What is known of a cluster."""

    servers: str
    brokers: Collection[int]
    """Those that are up."""
    moving: Collection[TopicPartition] = ()
    throttles: Mapping[str, object] | None = None
    min_isr: Mapping[str, int] | None = None
    """By topic, as far as it is known."""


Placed = list[tuple[TopicPartition, "PartitionDescription"]]


def why_partitions(topics: "Iterable[TopicDescription]", state: PartitionFacts) -> Diagnosis:
    """What ails, broker by broker; the certain causes first."""
    every = [
        (TopicPartition(topic.name, each.partition), each)
        for topic in topics
        for each in topic.partitions
    ]
    offline = [(name, each) for name, each in every if each.leader < 0]
    behind = [(name, each) for name, each in every if each.leader >= 0 and missing(each)]
    known = [f"{len(every)} partitions on {len(state.brokers)} brokers that are up"]
    if offline:
        known.append(f"{len(offline)} have no leader: {_names(offline)}")
    if behind:
        known.append(f"{len(behind)} lack replicas in sync: {_names(behind)}")
    causes = [*_down(offline + behind, state), *_offline(offline, state)]
    causes += [*_below_minimum(behind, state), *_slow(behind, state)]
    return Diagnosis(known, causes)


def missing(partition: "PartitionDescription") -> list[int]:
    """Replicas that are not in sync."""
    return [each for each in partition.replicas if each not in partition.isr]


def _names(placed: Placed) -> str:
    return some([str(name) for name, _ in placed])


def _down(ailing: Placed, state: PartitionFacts) -> Iterable[LikelyCause]:
    waiting: dict[int, Placed] = {}
    for name, each in ailing:
        for broker in each.replicas:
            if broker not in state.brokers:
                waiting.setdefault(broker, []).append((name, each))
    for broker, placed in sorted(waiting.items()):
        yield LikelyCause(
            f"Broker {broker} is down: {len(placed)} partitions have a replica there",
            "Start it. The end of its log says why it stopped; until it is back, the others "
            "serve what they have.",
            is_certain=True,
            command=command(
                *("moldau", "topics", "--describe", "--under-replicated-partitions"),
                *("--bootstrap-server", state.servers),
            ),
            page=("brokers",),
        )


def _offline(offline: Placed, state: PartitionFacts) -> Iterable[LikelyCause]:
    for name, each in offline[:20]:
        alive = [broker for broker in each.replicas if broker in state.brokers]
        if not alive:
            continue  # the brokers that are down are a cause of their own
        wanted = {"topic": name.topic, "partition": name.partition}
        last = " or ".join(map(str, each.isr)) or "of its last in-sync set"
        yield LikelyCause(
            f"{name} waits for broker {last}, which alone has all records; "
            f"{' and '.join(map(str, alive))} may lack some",
            "Start that broker. Only if its disk is lost, elect another: what it lacks is lost.",
            is_certain=True,
            command=command(
                *("moldau", "leader-election", "--election-type", "unclean"),
                *("--topic", name.topic, "--partition", str(name.partition)),
                *("--bootstrap-server", state.servers),
            ),
            remedy=MendingRequest(
                "Elect another, losing records",
                "POST",
                ("elections",),
                "admin",
                {"type": "unclean", "partitions": [wanted]},
                confirm=str(name),
            ),
        )


def _below_minimum(behind: Placed, state: PartitionFacts) -> Iterable[LikelyCause]:
    minimum = state.min_isr or {}
    refused = [(name, each) for name, each in behind if len(each.isr) < minimum.get(name.topic, 1)]
    if refused:
        yield LikelyCause(
            f"{len(refused)} partitions have fewer replicas in sync than min.insync.replicas: "
            f"{_names(refused)}",
            "Producers with acks=all are refused there (NOT_ENOUGH_REPLICAS) until replicas are "
            "back. Lowering the setting lets them write, with fewer copies.",
            is_certain=True,
        )


def _slow(behind: Placed, state: PartitionFacts) -> Iterable[LikelyCause]:
    moving = [(name, each) for name, each in behind if name in state.moving]
    if moving:
        yield LikelyCause(
            f"{len(moving)} of them are being moved: new replicas are copied first",
            "That is as it should be. See how far they are.",
            is_certain=True,
            page=("reassignments",),
        )
    lagging: dict[int, Placed] = {}
    for name, each in behind:
        for broker in missing(each):
            if broker in state.brokers and name not in state.moving:
                lagging.setdefault(broker, []).append((name, each))
    if lagging and state.throttles:
        yield LikelyCause(
            "Copying between brokers is slowed down by a throttle, also for replicas behind",
            "A throttle that a move has left is to be taken away.",
            remedy=MendingRequest(
                "Take all throttles away", "DELETE", ("reassignments", "throttle"), "admin"
            ),
            page=("reassignments",),
        )
    for broker, placed in sorted(lagging.items()):
        leaders = sorted({each.leader for _, each in placed})
        yield LikelyCause(
            f"Broker {broker} is up, but behind in {len(placed)} partitions: {_names(placed)}",
            f"It has just started and catches up, or its disk or the network to broker "
            f"{', '.join(map(str, leaders))} is slow. Look whether the number falls; "
            "num.replica.fetchers lets it copy from more at a time.",
            page=("brokers",),
        )
