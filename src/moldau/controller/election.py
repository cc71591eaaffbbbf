"""Choosing a leader among the replicas of a partition.

Each function answers with the leader and the in-sync set after the election, or None if
no replica can lead. Without `is_unclean_allowed` only a replica that was in sync can, so that
nothing that was acknowledged is lost.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple


class Elected(NamedTuple):
    """The result of an election."""

    leader: int
    isr: tuple[int, ...]
    is_unclean: bool = False


def elect_first(replicas: Sequence[int], live: Collection[int]) -> Elected | None:
    """The leader of a new partition: all live replicas are in sync, there is nothing yet."""
    isr = tuple(replica for replica in replicas if replica in live)
    return Elected(isr[0], isr) if isr else None


def elect_offline(
    replicas: Sequence[int],
    isr: Sequence[int],
    live: Collection[int],
    *,
    is_unclean_allowed: bool,
) -> Elected | None:
    """The leader of a partition whose leader is gone."""
    remaining = tuple(replica for replica in isr if replica in live)
    for replica in replicas:
        if replica in remaining:
            return Elected(replica, remaining)
    if is_unclean_allowed:
        for replica in replicas:
            if replica in live:
                return Elected(replica, (replica,), is_unclean=True)
    return None


def elect_preferred(
    replicas: Sequence[int], isr: Sequence[int], live: Collection[int]
) -> Elected | None:
    """The first replica, if it can lead."""
    preferred = replicas[0]
    if preferred in live and preferred in isr:
        return Elected(preferred, tuple(isr))
    return None


def elect_reassigned(
    target: Sequence[int], isr: Sequence[int], live: Collection[int]
) -> Elected | None:
    """The first of the new replicas that can lead."""
    for replica in target:
        if replica in live and replica in isr:
            return Elected(replica, tuple(isr))
    return None


def elect_for_shutdown(
    replicas: Sequence[int],
    isr: Sequence[int],
    live: Collection[int],
    stopping: Collection[int],
) -> Elected | None:
    """A replica that is not about to stop; those that are leave the in-sync set."""
    remaining = tuple(replica for replica in isr if replica not in stopping)
    for replica in replicas:
        if replica in live and replica in remaining:
            return Elected(replica, remaining)
    return None
