"""Bugs that other brokers have had, put into ours: the simulation finds each of them.

They are planted here, in the test's own process, and never in the product.
"""

from collections.abc import Callable

import pytest

from moldau.broker.storage.flushing import Flusher
from moldau.log.log import Log
from moldau.model import NO_LEADER_EPOCH
from moldau.replication.fetcher import Following
from moldau.replication.partition import Partition
from simulation.scenario import play
from simulation.shapes import SHAPES, Shape

SEEDS_MAX = 200

Plant = Callable[[pytest.MonkeyPatch], None]


def truncate_to_the_high_watermark(patch: pytest.MonkeyPatch) -> None:
    """The rule before KIP-101: a new follower keeps what it knows to be committed, no more.

    It may cut what is committed, or keep what is not, since it hears of that late. Logs
    without epochs are still treated so.
    """
    patch.setattr(Following, "last_epoch", property(lambda _: NO_LEADER_EPOCH))


def acknowledge_before_replication(patch: pytest.MonkeyPatch) -> None:
    """A record counts as committed as soon as the leader has it."""

    def is_committed(self: Partition, end_offset: int) -> bool:
        self.require_leader()
        return self.log.log_end_offset >= end_offset

    patch.setattr(Partition, "is_committed", is_committed)


def acknowledge_before_the_sync(patch: pytest.MonkeyPatch) -> None:
    """Records count as committed although a power loss can still take them."""
    patch.setattr(Flusher, "is_due", lambda _self, _log: False)
    patch.setattr(Log, "settled_end_offset", lambda log: log.segments.end_offset)


def forget_open_transactions(patch: pytest.MonkeyPatch) -> None:
    """Readers of committed records are not held back by transactions that are open."""
    patch.setattr(Log, "last_stable_offset", property(lambda log: log.high_watermark))


@pytest.mark.parametrize(
    ("plant", "shape"),
    [
        (truncate_to_the_high_watermark, SHAPES[3][0]),
        (acknowledge_before_replication, SHAPES[3][0]),
        (acknowledge_before_the_sync, SHAPES[1][0]),
        (forget_open_transactions, SHAPES[1][0]),
    ],
)
def test_a_planted_bug_is_found(
    plant: Plant, shape: Shape, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    assert any(play(seed, shape).violations for seed in range(SEEDS_MAX))
