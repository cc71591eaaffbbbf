"""What must hold whatever fails: each function looks for what breaks one invariant.

The names are those of docs/reliability.md. A checker yields a sentence for everything
that it finds; a history without such sentences kept the invariant.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise

from simulation.client import LOOSE
from simulation.history import Batch, History, KeyedRecord, Outcome, Owned, Transaction
from simulation.tables import acknowledged_records

Checker = Callable[[History], Iterator[str]]


def acknowledged_records_are_there_once(history: History) -> Iterator[str]:
    """I1: what was acknowledged to an idempotent producer is in the log, exactly once."""
    for partition, records in history.final.items():
        counts: dict[str, int] = {}
        for _, value in records:
            counts[value] = counts.get(value, 0) + 1
        for value, count in counts.items():
            if count > 1:
                yield f"partition {partition} has {value} {count} times"
        for write in history.writes:
            if write.partition == partition and write.outcome is Outcome.DONE:
                lost = [value for value in write.values if value not in counts]
                if lost:
                    yield f"partition {partition} lost {lost}, acknowledged at {write.base_offset}"


def offsets_hold_one_value(history: History) -> Iterator[str]:
    """I2: a partition and an offset name one value, in acknowledgements and all reads."""
    known = {
        (partition, offset): value
        for partition, records in history.final.items()
        for offset, value in records
    }
    for write in history.writes:
        if write.outcome is Outcome.DONE:
            for offset, value in enumerate(write.values, write.base_offset):
                found = known.setdefault((write.partition, offset), value)
                if found != value:
                    yield f"{write.partition}@{offset} was acknowledged for {value}, is {found}"
    for read in history.reads:
        found = known.setdefault((read.partition, read.offset), read.value)
        if found != read.value:
            yield f"{read.partition}@{read.offset} was read as {read.value}, is {found}"


def producers_keep_their_order(history: History) -> Iterator[str]:
    """I3: records of a producer stand in the order of sending, at rising offsets."""
    for partition, records in history.final.items():
        latest: dict[str, int] = {}
        last_offset = -1
        for offset, value in records:
            if offset <= last_offset:
                yield f"partition {partition} has offset {offset} after {last_offset}"
            last_offset = offset
            producer, _, number = value.rpartition("#")
            if int(number) <= latest.get(producer, -1):
                yield f"partition {partition} has {value} after {producer}#{latest[producer]}"
            latest[producer] = int(number)


def reads_stay_true(history: History) -> Iterator[str]:
    """I4: what a consumer has read is still there in the end."""
    final = {partition: dict(records) for partition, records in history.final.items()}
    for read in history.reads:
        if read.offset not in final.get(read.partition, {}):
            yield f"{read.reader} read {read.value} at {read.partition}@{read.offset}: it is gone"


def readers_skip_nothing(history: History) -> Iterator[str]:
    """A6: a consumer that has read on has not been kept from what was there to read."""
    for is_committed_only, final in (
        (False, history.final),
        (True, history.final_committed),
    ):
        seen: dict[tuple[str, int], dict[int, None]] = {}
        for read in history.reads:
            if read.is_committed_only is is_committed_only:
                seen.setdefault((read.reader, read.partition), {})[read.offset] = None
        for (reader, partition), offsets in seen.items():
            end = max(offsets)
            skipped = [
                offset
                for offset, _ in final.get(partition, ())
                if offset < end and offset not in offsets
            ]
            if skipped:
                yield f"{reader} skipped {skipped} of partition {partition}"


def transactions_are_whole(history: History) -> Iterator[str]:
    """I5: readers of committed records see all of a transaction or nothing of it."""
    visible = {value for records in history.final_committed.values() for _, value in records}
    for transaction in history.transactions.values():
        values = [
            value
            for write in history.writes
            if write.transaction == transaction.name
            for value in write.values
        ]
        seen = [value for value in values if value in visible]
        if must_be_visible(transaction) and len(seen) < len(values):
            yield f"{transaction.name} was committed, but only {seen} of {values} is there"
        elif cannot_be_visible(transaction) and seen:
            yield f"{transaction.name} was not committed, but {seen} can be read"
        elif seen and len(seen) < len(values):
            yield f"of {transaction.name} only {seen} of {values} can be read"


def committed_reads_are_committed(history: History) -> Iterator[str]:
    """I5: nothing is read as committed that turns out not to be."""
    final = {
        (partition, offset)
        for partition, records in history.final_committed.items()
        for offset, _ in records
    }
    for read in history.reads:
        if read.is_committed_only and (read.partition, read.offset) not in final:
            yield f"{read.reader} read {read.value}, which was not committed"


def transactions_carry_their_offsets(history: History) -> Iterator[str]:
    """I5: the offsets that a transaction commits are visible if its records are."""
    visible = {
        value.rpartition("/")[0]
        for records in history.final_committed.values()
        for _, value in records
        if "@" in value
    }
    expected: dict[str, int] = {}
    for name, transaction in history.transactions.items():
        if name in visible and transaction.committed_offset is not None:
            group = f"{name.partition('@')[0]}-offsets"
            expected[group] = max(expected.get(group, -1), transaction.committed_offset)
    for group, offset in expected.items():
        found = history.final_group_offsets.get(group)
        if found != offset:
            yield f"{group} is at {found}, but the last transaction committed {offset}"


def epochs_have_one_leader(history: History) -> Iterator[str]:
    """I6: leader epochs of a partition rise, and each belongs to one broker."""
    latest: dict[str, tuple[int, int]] = {}
    for partition, epoch, leader in history.leaderships:
        known_epoch, known_leader = latest.get(partition, (-1, -1))
        if epoch < known_epoch:
            yield f"{partition} went from epoch {known_epoch} to {epoch}"
        if epoch == known_epoch and leader != known_leader:
            yield f"{partition} has leaders {known_leader} and {leader} in epoch {epoch}"
        latest[partition] = epoch, leader


def controller_epochs_rise(history: History) -> Iterator[str]:
    """I7: every controller has a greater epoch than the one before."""
    for before, after in pairwise(history.controller_epochs):
        if after <= before:
            yield f"controller epoch {after} came after {before}"


def replicas_agree(history: History) -> Iterator[str]:
    """I8, I9: in the end all replicas of a partition have the same batches, byte for byte."""
    for partition, logs in history.replicas.items():
        if partition.startswith(f"{LOOSE}-"):
            continue  # a leader may have lost records, and written others in the same epoch
        (first, batches), *others = logs.items()
        for other, its_batches in others:
            if its_batches != batches:
                differing = {*batches} ^ {*its_batches}
                offsets = sorted(batch.base_offset for batch in differing)
                yield f"{partition} differs on {first} and {other}, at offsets {offsets[:10]}"


def sequences_have_no_gaps(history: History) -> Iterator[str]:
    """I11: a producer's sequences in a log follow each other, in every epoch from 0 on."""
    for partition, logs in history.replicas.items():
        if partition.startswith(f"{LOOSE}-"):
            continue  # it may have forgotten a producer
        for broker, batches in logs.items():
            expected: dict[tuple[int, int], int] = {}
            for batch in batches:
                if batch.base_sequence < 0 or _is_of_apaches_coordinator(partition, batch):
                    continue
                producer = (batch.producer_id, batch.producer_epoch)
                wanted = expected.get(producer, 0)
                if batch.base_sequence != wanted:
                    yield (
                        f"{partition} on {broker}: producer {producer} goes on with "
                        f"{batch.base_sequence} instead of {wanted}"
                    )
                count = batch.next_offset - batch.base_offset
                expected[producer] = batch.base_sequence + count


def _is_of_apaches_coordinator(partition: str, batch: Batch) -> bool:
    """Apache's coordinators give every batch of theirs the sequence 0, and nobody checks it."""
    return partition.startswith("__") and batch.base_sequence == 0


def commits_are_kept(history: History) -> Iterator[str]:
    """I10: an acknowledged commit is found again, and nothing that nobody committed."""
    for found in history.committed:
        if not found.done_before <= found.offset <= found.asked_after:
            yield (
                f"{found.group} is at {found.offset}, "
                f"not in [{found.done_before}, {found.asked_after}]"
            )
    for commit in history.commits:
        if commit.outcome is Outcome.DONE:
            found_last = history.final_group_offsets.get(commit.group, commit.offset)
            if found_last < commit.offset:
                yield f"{commit.group} ended at {found_last}, after {commit.offset} was committed"


def generations_have_one_owner(history: History) -> Iterator[str]:
    """I10: in one generation no partition belongs to two members."""
    owners: dict[tuple[str, int, int], str] = {}
    for joined in history.joined:
        for partition in joined.assigned:
            key = (joined.group, joined.generation, partition)
            owner = owners.setdefault(key, joined.member)
            if owner != joined.member:
                yield (
                    f"partition {partition} belongs to {owner} and {joined.member} "
                    f"in generation {joined.generation}"
                )


def partitions_have_one_owner_at_a_time(history: History) -> Iterator[str]:
    """A partition is given to a member only when no other one has it any more."""
    latest: dict[int, Owned] = {}
    for owned in sorted(history.owned, key=lambda owned: owned.from_s):
        before = latest.get(owned.partition)
        if before is not None and before.member != owned.member and before.until_s > owned.from_s:
            yield (
                f"partition {owned.partition} was given to {owned.member} at {owned.from_s:.3f} s, "
                f"while {before.member} had it until {before.until_s:.3f} s"
            )
        latest[owned.partition] = owned


def generations_rise(history: History) -> Iterator[str]:
    """I10: a member's generation never goes back."""
    latest: dict[tuple[str, str], int] = {}
    for joined in history.joined:
        key = (joined.group, joined.member)
        if joined.generation < latest.get(key, -1):
            yield f"{joined.member} went from generation {latest[key]} to {joined.generation}"
        latest[key] = joined.generation


def topics_have_their_own_records(history: History) -> Iterator[str]:
    """A topic has what was written to it, and nothing of one of its name before it."""
    for life in history.incarnations:
        for partition, values in life.read.items():
            written = life.written.get(partition, [])
            if values != written:
                yield f"{life.name}-{partition} has {values}, not {written}"


def topic_ids_are_unique(history: History) -> Iterator[str]:
    """No two topics have the same id."""
    owners: dict[bytes, str] = {}
    for life in history.incarnations:
        owner = owners.setdefault(life.topic_id, life.name)
        if owner != life.name:
            yield f"{owner} and {life.name} both have the id {life.topic_id.hex()}"


def compaction_keeps_the_last_of_each_key(history: History) -> Iterator[str]:
    """Of a compacted topic only what was overwritten is gone, and all else is in its place."""
    acknowledged = acknowledged_records(history)
    for broker, records in history.tables.items():
        at = {record.offset: record for record in records}
        last = {record.key: record.offset for record in records}
        for wanted in acknowledged:
            found = at.get(wanted.offset)
            if found is not None and found != wanted:
                yield f"broker {broker} has {found} instead of {wanted}"
            if found is None and last.get(wanted.key, -1) < wanted.offset:
                yield f"broker {broker} lost {wanted}, which nothing overwrites"


def compaction_keeps_the_order(history: History) -> Iterator[str]:
    """A compacted log has rising offsets, and its producer's records in the order of sending."""
    for broker, records in history.tables.items():
        for before, after in pairwise(records):
            if after.offset <= before.offset or _number(after) <= _number(before):
                yield f"broker {broker} has {after} after {before}"


def compacted_replicas_agree(history: History) -> Iterator[str]:
    """Replicas are compacted each by itself, but have the same last record of each key."""
    tables = {
        broker: {record.key: record for record in records}
        for broker, records in history.tables.items()
    }
    for (one, table), (other, its_table) in pairwise(tables.items()):
        if table != its_table:
            differing = sorted({*table.values()} ^ {*its_table.values()})
            yield f"brokers {one} and {other} differ: {differing}"


def _number(record: KeyedRecord) -> int:
    return int(record.value.rpartition("#")[2])


def producer_ids_are_unique(history: History) -> Iterator[str]:
    """I12: no two producers get the same id."""
    owners: dict[int, str] = {}
    for producer, producer_id in history.producer_ids:
        owner = owners.setdefault(producer_id, producer)
        if owner != producer:
            yield f"{owner} and {producer} both have producer id {producer_id}"


def nobody_is_surprised(history: History) -> Iterator[str]:
    """I11, I14: no answer and no failure that a correct broker never gives."""
    yield from history.surprises


CHECKERS: tuple[Checker, ...] = (
    acknowledged_records_are_there_once,
    offsets_hold_one_value,
    producers_keep_their_order,
    reads_stay_true,
    readers_skip_nothing,
    transactions_are_whole,
    committed_reads_are_committed,
    transactions_carry_their_offsets,
    epochs_have_one_leader,
    controller_epochs_rise,
    replicas_agree,
    sequences_have_no_gaps,
    commits_are_kept,
    generations_have_one_owner,
    generations_rise,
    partitions_have_one_owner_at_a_time,
    topics_have_their_own_records,
    topic_ids_are_unique,
    compaction_keeps_the_last_of_each_key,
    compaction_keeps_the_order,
    compacted_replicas_agree,
    producer_ids_are_unique,
    nobody_is_surprised,
)


def violations(history: History) -> list[str]:
    """Everything that breaks an invariant, under its name."""
    # Without an end there is nothing to compare with, and that is bad enough.
    checkers = CHECKERS if history.is_complete else (nobody_is_surprised,)
    return [f"{checker.__name__}: {found}" for checker in checkers for found in checker(history)]


def must_be_visible(transaction: Transaction) -> bool:
    """Whether its producer was told that it is committed."""
    return transaction.is_commit and transaction.outcome is Outcome.DONE


def cannot_be_visible(transaction: Transaction) -> bool:
    """Whether nobody ever asked for it to be committed."""
    return not transaction.is_commit
