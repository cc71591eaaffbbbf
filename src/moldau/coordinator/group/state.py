"""The states of a group."""

from enum import Enum


class GroupState(Enum):
    """Where a group stands.

        Empty ──► PreparingRebalance ◄──────────────► CompletingRebalance ──► Stable
          ▲              │    ▲                                                 │
          └──────────────┘    └─────────────────────────────────────────────────┘
        any ──► Dead

    Members move it: by joining, leaving, failing, and by the leader's assignment. A group
    is dead when it is deleted, or when another broker has become its coordinator.
    """

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"
