"""Where a follower's log parts from its leader's (KIP-101, KIP-279).

A follower asks its leader where the newest epoch that it has ended there. Cutting to the
high watermark instead would lose records: a follower gets it one fetch later than the
leader moves it, so after a restart it could cut what was acknowledged and then be elected.
"""

from typing import NamedTuple

from moldau.log.leader_epochs import NO_OFFSET, UNKNOWN_EPOCH, EpochEnd
from moldau.log.log import Log


class Cut(NamedTuple):
    """What a log is to be cut to, and whether it agrees with the leader's from then on."""

    offset: int
    is_final: bool


def cut_for(log: Log, leader: EpochEnd) -> Cut:
    """What follows from the leader's answer; the cut never reaches below the log's start.

    A cut that is not final leaves a log whose newest epoch is to be asked for again: the
    leader named an epoch that this log has nothing of, so its own records of the epochs
    between are no good either.
    """
    offset, is_final = _cut_for(log, leader)
    return Cut(max(log.log_start_offset, min(offset, log.log_end_offset)), is_final)


def _cut_for(log: Log, leader: EpochEnd) -> Cut:
    if leader.end_offset == NO_OFFSET:
        # The leader has no epochs to compare.
        return Cut(log.high_watermark, True)
    own = log.end_offset_for_epoch(leader.epoch)
    if own == UNKNOWN_EPOCH:
        return Cut(leader.end_offset, True)
    if own.epoch == leader.epoch:
        return Cut(min(own.end_offset, leader.end_offset), True)
    return Cut(own.end_offset, False)
