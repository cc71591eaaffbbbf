"""Where a follower cuts its log, by what its leader says of an epoch; and what that saves."""

import pytest

from moldau.log.leader_epochs import UNKNOWN_EPOCH, EpochEnd
from moldau.log.log import Log
from moldau.replication.truncation import Cut, cut_for
from unit.replication.replica_set import ReplicaSet


def log_with_epochs(*epochs: int) -> Log:
    """A log with one record of each of these epochs."""
    replicas = ReplicaSet(count=1, min_insync_replicas=1)
    log = replicas.members[1].log
    partition = replicas.members[1].partition
    for epoch in epochs:
        partition.lead(partition.state._replace(leader_epoch=epoch), now_ms=0)
        replicas.append(1, b"%d" % epoch)
    return log


@pytest.mark.parametrize(
    ("answer", "cut"),
    [
        (EpochEnd(5, 2), Cut(2, True)),  # the leader has less of our newest epoch
        (EpochEnd(5, 9), Cut(3, True)),  # it has more
        (EpochEnd(3, 2), Cut(2, True)),  # it has nothing of the newest: back to the one before
        (EpochEnd(3, 1), Cut(1, True)),
        (EpochEnd(4, 2), Cut(2, False)),  # an epoch that we have nothing of: ask again
        (EpochEnd(2, 2), Cut(1, False)),
        (EpochEnd(-1, 2), Cut(2, True)),  # a leader that does not tell epochs apart
        (UNKNOWN_EPOCH, Cut(3, True)),  # or knows none: back to the high watermark
    ],
)
def test_the_cut_follows_from_the_leaders_answer(answer: EpochEnd, cut: Cut) -> None:
    log = log_with_epochs(1, 3, 5)
    assert cut_for(log, answer) == cut


def test_nothing_is_cut_below_the_start_of_the_log() -> None:
    log = log_with_epochs(1, 3, 5)
    log.raise_log_start(2)
    assert cut_for(log, EpochEnd(3, 1)) == Cut(2, True)


def test_a_log_without_epochs_trusts_the_leaders_end() -> None:
    log = log_with_epochs(1)
    log.epochs.clear()
    assert cut_for(log, EpochEnd(7, 4)) == Cut(1, True)
    assert cut_for(log, EpochEnd(7, 0)) == Cut(0, True)


@pytest.mark.parametrize("truncates_by_fetch", [False, True])
def test_kip_101_a_restarted_follower_keeps_what_was_acknowledged(
    truncates_by_fetch: bool,
) -> None:
    """It heard of no high watermark yet, restarts, and is elected before it can fetch.

    With the rule before KIP-101 it would have cut its log to the old high watermark.
    """
    replicas = ReplicaSet(count=2, truncates_by_fetch=truncates_by_fetch)
    end_offset = replicas.append(1, b"acknowledged")
    replicas.ask(2)  # fetches the record
    replicas.ask(2)  # tells by its offset that it has it
    assert replicas.members[1].partition.is_committed(end_offset)
    replicas.members[2].crash()
    replicas.members[2].start(high_watermark=0)
    replicas.tell(2)
    replicas.members[1].crash()
    replicas.elect(2)
    replicas.tell(2)
    assert replicas.members[2].values() == [b"acknowledged"]


@pytest.mark.parametrize("truncates_by_fetch", [False, True])
def test_kip_101_logs_do_not_part_after_both_have_restarted(truncates_by_fetch: bool) -> None:
    """The follower with the shorter log leads first and writes at an offset that the other has.

    Both logs then have the same length; only epochs tell that they differ.
    """
    replicas = ReplicaSet(count=2, min_insync_replicas=1, truncates_by_fetch=truncates_by_fetch)
    replicas.append(1, b"first", acks=1)
    replicas.settle()
    replicas.append(1, b"lost", acks=1)
    for broker in (1, 2):
        replicas.members[broker].crash()
    replicas.members[2].start(high_watermark=1)
    replicas.elect(2, isr=(2,))
    replicas.tell(2)
    replicas.append(2, b"second", acks=1)
    replicas.members[1].start(high_watermark=1)
    replicas.tell(1)
    replicas.settle()
    assert replicas.members[1].values() == replicas.members[2].values() == [b"first", b"second"]


@pytest.mark.parametrize("truncates_by_fetch", [False, True])
def test_kip_279_logs_do_not_part_after_quick_changes_of_leader(truncates_by_fetch: bool) -> None:
    """A follower's newest epoch may be one of which the leader has nothing, and the other way.

    One question is not enough then: the follower cuts and asks for an older epoch.
    """
    replicas = ReplicaSet(count=3, min_insync_replicas=1, truncates_by_fetch=truncates_by_fetch)
    replicas.append(1, b"all have it", acks=1)
    replicas.settle()
    replicas.elect(1)  # epoch 1: only broker 1 writes in it
    replicas.tell(1)
    replicas.append(1, b"epoch 1 a", acks=1)
    replicas.append(1, b"epoch 1 b", acks=1)
    replicas.members[1].crash()
    replicas.elect(2, isr=(2, 3))  # epoch 2: broker 2 writes, broker 3 hears nothing
    replicas.tell(2)
    replicas.append(2, b"epoch 2", acks=1)
    replicas.members[2].crash()
    replicas.members[1].start(high_watermark=1)
    replicas.elect(1, isr=(1,))  # epoch 3, out of sync
    replicas.tell(1, 3)
    replicas.append(1, b"epoch 3", acks=1)
    replicas.members[2].start(high_watermark=1)
    replicas.tell(2)
    replicas.settle()
    expected = [b"all have it", b"epoch 1 a", b"epoch 1 b", b"epoch 3"]
    assert [member.values() for member in replicas.members.values()] == [expected] * 3


def test_a_leader_elected_out_of_sync_has_the_others_cut_what_it_lacks() -> None:
    replicas = ReplicaSet(count=2, min_insync_replicas=1)
    replicas.append(1, b"both", acks=1)
    replicas.settle()
    replicas.members[2].crash()
    replicas.elect(1, isr=(1,))
    replicas.tell(1)
    replicas.append(1, b"lost", acks=1)
    replicas.members[1].crash()
    replicas.members[2].start(high_watermark=1)
    replicas.elect(2, isr=(2,))
    replicas.tell(2)
    replicas.members[1].start(high_watermark=2)
    replicas.tell(1)
    replicas.settle()
    assert replicas.members[1].values() == [b"both"]
    assert replicas.members[1].log.high_watermark == 1
