"""Moving a partition to other brokers: what its replicas are from step to step (KIP-455).

While it moves, a partition has the replicas that it shall have and those that it had. It is
where it shall be when all of the first are in sync; only then do the others go.
"""

from collections.abc import Collection, Iterable, Sequence

from moldau.controller.cluster import ReplicaAssignment

_SHOWN_MAX = 100


def problem_of(
    current: ReplicaAssignment, target: Sequence[int], live: Collection[int]
) -> str | None:
    """Why a partition cannot go to `target`, in Kafka's words; None if it can."""
    if not target:
        return "Empty replica list specified in partition reassignment."
    if len(set(target)) < len(target):
        return f"Duplicate replica ids in partition reassignment replica list: {_shown(target)}"
    if min(target) < 0:
        return f"Invalid broker id in replica list: {_shown(target)}"
    # Those that have it already may be down: they are not waited for to come.
    adding = list(started(current, target).adding)
    if not set(adding) <= set(live):
        return (
            f"Replica assignment has brokers that are not alive. Replica list: {_shown(adding)}, "
            f"live broker list: {list(live)}"
        )
    return None


def _shown(replicas: Sequence[int]) -> str:
    """A list as Kafka prints it; of one that makes no sense the beginning."""
    shown = str(list(replicas[:_SHOWN_MAX]))
    return shown if len(replicas) <= _SHOWN_MAX else f"{shown[:-1]}, ...]"


def started(current: ReplicaAssignment, target: Sequence[int]) -> ReplicaAssignment:
    """On the way to `target`, wherever the partition was on its way to before."""
    origin = origin_of(current)
    return ReplicaAssignment(
        replicas=tuple(dict.fromkeys([*target, *origin])),
        adding=tuple(one for one in target if one not in origin),
        removing=tuple(one for one in origin if one not in target),
    )


def cancelled(current: ReplicaAssignment) -> ReplicaAssignment:
    """Back where it was, at once: those that were to come are not needed."""
    return ReplicaAssignment(origin_of(current))


def finished(current: ReplicaAssignment) -> ReplicaAssignment:
    """At the end of the way."""
    return ReplicaAssignment(target_of(current))


def is_under_way(current: ReplicaAssignment) -> bool:
    """Whether a partition has replicas that are to come or to go."""
    return bool(current.adding or current.removing)


def is_complete(current: ReplicaAssignment, isr: Iterable[int]) -> bool:
    """Whether every replica that shall have the partition is in sync."""
    return is_under_way(current) and set(target_of(current)) <= set(isr)


def origin_of(current: ReplicaAssignment) -> tuple[int, ...]:
    """The replicas without those that are to come."""
    return tuple(one for one in current.replicas if one not in current.adding)


def target_of(current: ReplicaAssignment) -> tuple[int, ...]:
    """The replicas without those that are to go."""
    return tuple(one for one in current.replicas if one not in current.removing)
