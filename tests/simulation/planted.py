"""Bugs that other brokers have had, or that ours could have, to be put into it by tests.

Each replaces a function of the product by name, which `patch` refuses if the name is gone.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any

import pytest

from moldau.broker.coordination.partition_journal import PartitionJournal
from moldau.broker.coordination.producer_ids import ProducerIds
from moldau.broker.requests.replica_wait import UncommittedAppend
from moldau.broker.storage.flushing import Flusher
from moldau.broker.storage.logs import Logs
from moldau.client.consumer.fetcher import Fetcher
from moldau.controller import election
from moldau.controller.cluster import LiveBroker
from moldau.controller.election import Elected
from moldau.controller.lookout import Lookout
from moldau.controller.presence import Presence, Sign
from moldau.coordinator.group.consumer.group import ConsumerGroup
from moldau.coordinator.group.rebalance import Rebalance
from moldau.log import producer_state
from moldau.log.appending import Appended
from moldau.log.leader_epochs import EpochEnd, LeaderEpochs
from moldau.log.log import Log
from moldau.log.producer_state import Producers
from moldau.log.transaction_index import AbortedInRange, TransactionIndex
from moldau.model import NO_LEADER_EPOCH, TopicPartition
from moldau.protocol.messages.fetch import PartitionData
from moldau.replication.fetcher import Following
from moldau.replication.partition import Partition
from moldau.runtime.waiters import Waiters

Plant = Callable[[pytest.MonkeyPatch], None]


# Logs and replication


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


def join_before_catching_up(patch: pytest.MonkeyPatch) -> None:
    """A follower is in sync as soon as it fetches."""
    patch.setattr(Partition, "_has_enough_to_join", lambda _self, _follower: True)


def forget_where_epochs_end(patch: pytest.MonkeyPatch) -> None:
    """A leader says of every epoch that it reaches to the end of the log."""

    def end_offset_for(_self: LeaderEpochs, epoch: int, log_end_offset: int) -> EpochEnd:
        return EpochEnd(epoch, log_end_offset)

    patch.setattr(LeaderEpochs, "end_offset_for", end_offset_for)


def elect_out_of_sync(patch: pytest.MonkeyPatch) -> None:
    """Who is alive leads, in sync or not."""

    def elect_offline(
        replicas: Sequence[int], isr: Sequence[int], live: Collection[int], **_options: object
    ) -> Elected | None:
        alive = [replica for replica in replicas if replica in live]
        if not alive:
            return None
        in_sync = [replica for replica in isr if replica in live and replica != alive[0]]
        return Elected(alive[0], (alive[0], *in_sync))

    patch.setattr(election, "elect_offline", elect_offline)


def keep_producers_of_what_was_cut(patch: pytest.MonkeyPatch) -> None:
    """A follower that cuts its log still knows the batches that are gone."""
    patch.setattr(Producers, "clear", lambda _self: None)


def keep_logs_of_deleted_topics(patch: pytest.MonkeyPatch) -> None:
    """A topic is deleted, its logs are not."""

    def delete(_self: Logs, _partition: TopicPartition, *, now_ms: int) -> None:
        """Nothing, at no time."""

    patch.setattr(Logs, "delete", delete)


# Fail-over before a session ends


def never_take_back(patch: pytest.MonkeyPatch) -> None:
    """A broker that was refused for a while stays gone as long as its session stands."""
    note = Presence.note

    def unforgiving(self: Presence, sign: Sign, *, now_ms: int) -> bool:
        return not self.is_gone and note(self, sign, now_ms=now_ms)

    patch.setattr(Presence, "note", unforgiving)


def take_the_next_life_for_the_last(patch: pytest.MonkeyPatch) -> None:
    """A broker whose process was gone once is gone, however often it registers again."""
    gone: dict[tuple[int, int], None] = {}
    is_gone = Lookout.is_gone

    def is_any_life_gone(self: Lookout, broker: LiveBroker) -> bool:
        if is_gone(self, broker):
            gone[id(self), broker.id] = None
        return (id(self), broker.id) in gone

    patch.setattr(Lookout, "is_gone", is_any_life_gone)


# Producers and transactions


def forget_open_transactions(patch: pytest.MonkeyPatch) -> None:
    """Readers of committed records are not held back by transactions that are open."""
    patch.setattr(Log, "last_stable_offset", property(lambda log: log.high_watermark))


def forget_aborted_transactions(patch: pytest.MonkeyPatch) -> None:
    """Readers of committed records are not told what was aborted."""

    def collect(_self: TransactionIndex, _start: int, _end: int) -> AbortedInRange:
        return AbortedInRange([], is_complete=False)

    patch.setattr(TransactionIndex, "collect", collect)


def take_any_sequence(patch: pytest.MonkeyPatch) -> None:
    """A batch is taken although the one before it is missing."""
    patch.setattr(producer_state, "_check_sequence", lambda _producer, _header: None)


def forget_repeated_batches(patch: pytest.MonkeyPatch) -> None:
    """A batch that comes again is not known again."""
    patch.setattr(producer_state, "_find_repeated", lambda _producer, _header: None)


def give_producer_ids_twice(patch: pytest.MonkeyPatch) -> None:
    """A block of producer ids is used without waiting for it to be claimed."""

    async def claim(self: ProducerIds, broker_id: int) -> range:
        return range(broker_id % 2, 1_000)

    patch.setattr(ProducerIds, "claim", claim)


def forget_aborted_transactions_in_our_consumer(patch: pytest.MonkeyPatch) -> None:
    """Our consumer is told what was aborted, and does not listen."""
    take_records = Fetcher._take_records

    def take(self: Fetcher, assigned: Any, data: PartitionData) -> None:
        data.aborted_transactions = None
        take_records(self, assigned, data)

    patch.setattr(Fetcher, "_take_records", take)


# Groups


def answer_before_coordinators_have_replicated(patch: pytest.MonkeyPatch) -> None:
    """What a coordinator writes counts as soon as its own broker has it."""
    patch.setattr(PartitionJournal, "is_committed", lambda _self, _end_offset: True)


def assign_to_all_what_is_one_member_s(patch: pytest.MonkeyPatch) -> None:
    """A member that asks again for its assignment gets that of another."""
    assigned = Rebalance.assigned

    def mixed_up(self: Rebalance, member: Any) -> Any:
        others = [one for one in self._group.members.values() if one.assignment]
        return assigned(self, others[-1] if others else member)

    patch.setattr(Rebalance, "assigned", mixed_up)


def give_before_it_is_given_up(patch: pytest.MonkeyPatch) -> None:
    """A partition is given to a member while another one still has it."""
    patch.setattr(ConsumerGroup, "is_free", lambda _self, _topic_id, _partition: True)


# Where the fast paths meet all else: the names are those that fast and usual ways share.


def acknowledge_one_record_too_early(patch: pytest.MonkeyPatch) -> None:
    """An off-by-one: the last record of a batch need not be replicated."""

    def is_committed(self: Partition, end_offset: int) -> bool:
        self.require_leader()
        return self.log.high_watermark + 1 >= end_offset

    def may_be_over(self: UncommittedAppend) -> bool:
        return self.partition.log.high_watermark + 1 >= self.end_offset

    patch.setattr(Partition, "is_committed", is_committed)
    patch.setattr(UncommittedAppend, "may_be_over", property(may_be_over))


def answer_with_the_place_of_another_batch(patch: pytest.MonkeyPatch) -> None:
    """With several batches of a producer in flight, the answers share a template's numbers."""
    append_batch = Partition.append_batch

    def append(self: Partition, *arguments: Any, **options: Any) -> Appended:
        appended = append_batch(self, *arguments, **options)
        in_flight = appended.first_offset - self.log.high_watermark
        return Appended(
            appended.first_offset - (in_flight > 8),
            appended.last_offset,
            appended.max_timestamp,
            appended.is_duplicate,
            appended.has_rolled,
        )

    patch.setattr(Partition, "append_batch", append)


def append_without_leading(patch: pytest.MonkeyPatch) -> None:
    """A broker that leads no more takes records as before."""
    patch.setattr(Partition, "require_leader", lambda *_arguments: None)


def lose_wake_ups(patch: pytest.MonkeyPatch) -> None:
    """Who waits is not woken when others have caught up, only when the time is over."""
    patch.setattr(Waiters, "wake", lambda _self, *_keys: None)
