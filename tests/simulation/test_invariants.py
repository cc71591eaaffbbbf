"""Every checker finds the history that breaks its invariant, and no fault in a good one."""

import pytest

from simulation.history import (
    Batch,
    Commit,
    Committed,
    History,
    Incarnation,
    Joined,
    KeyedRecord,
    Leadership,
    Outcome,
    Owned,
    Read,
    Transaction,
    Write,
)
from simulation.invariants import CHECKERS, violations


def good_history() -> History:
    """Two producers, a reader of each kind, a transaction of each outcome, a group."""
    return History(
        writes=[
            Write("p/1", 0, ["p/1#0", "p/1#1"], outcome=Outcome.DONE, base_offset=0),
            Write("t@1", 0, ["t@1/0#0"], "t@1", Outcome.DONE, base_offset=2),
            Write("t@2", 0, ["t@2/0#0"], "t@2", Outcome.DONE, base_offset=4),
        ],
        transactions={
            "t@1": Transaction("t@1", True, Outcome.DONE, committed_offset=1),
            "t@2": Transaction("t@2", False, Outcome.DONE, committed_offset=2),
        },
        reads=[
            Read("all", 0, 0, "p/1#0", False),
            Read("all", 0, 1, "p/1#1", False),
            Read("committed", 0, 0, "p/1#0", True),
        ],
        commits=[Commit("g", 0, Outcome.DONE), Commit("g", 1)],
        committed=[Committed("g", 0, 0, 1)],
        joined=[Joined("m", "a", 1, [0]), Joined("m", "b", 1, [1]), Joined("m", "a", 2, [0, 1])],
        producer_ids=[("p/1", 1), ("t", 2), ("t", 2)],
        leaderships=[Leadership("/events/0", 0, 1), Leadership("/events/0", 1, 2)],
        incarnations=[
            Incarnation("s/0", b"1", written={0: ["s/0/0#0"]}, read={0: ["s/0/0#0"]}),
            Incarnation("s/1", b"2", written={0: ["s/1/0#0"]}, read={0: ["s/1/0#0"]}),
        ],
        owned=[Owned("a", 0, 1.0, 2.0), Owned("b", 0, 3.0), Owned("a", 1, 1.0)],
        table_writes=[
            (Write("w", 0, ["w#0", "w#1", "w#2"], None, Outcome.DONE, 0), ["a", "b", "a"])
        ],
        tables={
            broker: [KeyedRecord(1, "b", "w#1"), KeyedRecord(2, "a", "w#2")] for broker in (1, 2)
        },
        controller_epochs=[1, 2],
        replicas={
            "events-0": {
                broker: [Batch(0, 2, 0, 7, 1, 0, 0), Batch(2, 3, 1, 7, 2, 0, 0)]
                for broker in (1, 2)
            }
        },
        is_complete=True,
        final={0: [(0, "p/1#0"), (1, "p/1#1"), (2, "t@1/0#0"), (4, "t@2/0#0")]},
        final_committed={0: [(0, "p/1#0"), (1, "p/1#1"), (2, "t@1/0#0")]},
        final_group_offsets={"g": 1, "t-offsets": 1},
    )


def lose(history: History) -> None:
    history.final[0].pop(1)


def repeat(history: History) -> None:
    history.final[0].append((5, "p/1#1"))


def replace(history: History) -> None:
    history.reads.append(Read("other", 0, 1, "p/1#0", False))


def misplace(history: History) -> None:
    history.writes[0].base_offset = 1


def reorder(history: History) -> None:
    history.final[0][:2] = [(0, "p/1#1"), (1, "p/1#0")]


def unread(history: History) -> None:
    history.reads.append(Read("other", 0, 5, "p/1#2", False))


def skip(history: History) -> None:
    history.reads = [Read("all", 0, 0, "p/1#0", False), Read("all", 0, 2, "t@1/0#0", False)]


def tear(history: History) -> None:
    history.final_committed[0].pop(2)


def show_aborted(history: History) -> None:
    history.final_committed[0].append((4, "t@2/0#0"))


def show_half(history: History) -> None:
    history.transactions["t@1"].outcome = Outcome.UNKNOWN
    history.writes.append(Write("t@1", 0, ["t@1/0#1"], "t@1"))


def read_uncommitted(history: History) -> None:
    history.reads.append(Read("committed", 0, 4, "t@2/0#0", True))


def forget_transactional_offset(history: History) -> None:
    history.final_group_offsets["t-offsets"] = 2


def forget_commit(history: History) -> None:
    history.final_group_offsets["g"] = -1


def invent_commit(history: History) -> None:
    history.committed.append(Committed("g", 7, 0, 1))


def share_partition(history: History) -> None:
    history.joined.append(Joined("m", "b", 2, [1]))


def go_back(history: History) -> None:
    history.joined.append(Joined("m", "a", 1, [0]))


def share_producer_id(history: History) -> None:
    history.producer_ids.append(("p/2", 1))


def surprise(history: History) -> None:
    history.surprises.append("OUT_OF_ORDER_SEQUENCE_NUMBER")


def lead_twice(history: History) -> None:
    history.leaderships.append(Leadership("/events/0", 1, 1))


def lead_earlier(history: History) -> None:
    history.leaderships.append(Leadership("/events/0", 0, 1))


def control_again(history: History) -> None:
    history.controller_epochs.append(2)


def differ(history: History) -> None:
    history.replicas["events-0"][2][0] = Batch(0, 2, 0, 8, 1, 0, 0)


def leave_a_gap(history: History) -> None:
    for batches in history.replicas["events-0"].values():
        batches.append(Batch(3, 4, 1, 7, 1, 0, 3))


def inherit(history: History) -> None:
    history.incarnations[1].read[0].insert(0, "s/0/0#0")


def keep_id(history: History) -> None:
    history.incarnations[1].topic_id = history.incarnations[0].topic_id


def lose_last_of_key(history: History) -> None:
    history.tables[1].pop()


def swap_keys(history: History) -> None:
    history.tables[1][0] = KeyedRecord(1, "a", "w#1")


def swap_records(history: History) -> None:
    history.tables[1].reverse()


def differ_in_a_key(history: History) -> None:
    history.tables[2].append(KeyedRecord(3, "b", "w#3"))


def give_too_early(history: History) -> None:
    history.owned[0].until_s = 4.0


BREAKS = {
    lose: "acknowledged_records_are_there_once",
    repeat: "acknowledged_records_are_there_once",
    replace: "offsets_hold_one_value",
    misplace: "offsets_hold_one_value",
    reorder: "producers_keep_their_order",
    unread: "reads_stay_true",
    skip: "readers_skip_nothing",
    tear: "transactions_are_whole",
    show_aborted: "transactions_are_whole",
    show_half: "transactions_are_whole",
    read_uncommitted: "committed_reads_are_committed",
    forget_transactional_offset: "transactions_carry_their_offsets",
    forget_commit: "commits_are_kept",
    invent_commit: "commits_are_kept",
    share_partition: "generations_have_one_owner",
    go_back: "generations_rise",
    share_producer_id: "producer_ids_are_unique",
    surprise: "nobody_is_surprised",
    lead_twice: "epochs_have_one_leader",
    lead_earlier: "epochs_have_one_leader",
    control_again: "controller_epochs_rise",
    differ: "replicas_agree",
    leave_a_gap: "sequences_have_no_gaps",
    lose_last_of_key: "compaction_keeps_the_last_of_each_key",
    swap_keys: "compaction_keeps_the_last_of_each_key",
    swap_records: "compaction_keeps_the_order",
    differ_in_a_key: "compacted_replicas_agree",
    give_too_early: "partitions_have_one_owner_at_a_time",
    inherit: "topics_have_their_own_records",
    keep_id: "topic_ids_are_unique",
}


def test_a_good_history_keeps_every_invariant() -> None:
    assert violations(good_history()) == []


@pytest.mark.parametrize("breaking", BREAKS, ids=lambda breaking: breaking.__name__)
def test_a_broken_history_is_found_by_its_checker(breaking: object) -> None:
    history = good_history()
    breaking(history)  # type: ignore[operator]
    found = {violation.partition(":")[0] for violation in violations(history)}
    assert BREAKS[breaking] in found  # type: ignore[index]


def test_only_coordinators_of_apache_may_begin_at_sequence_0_again_and_again() -> None:
    history = good_history()
    repeated = {1: [Batch(0, 1, 0, 7, 5, 0, 0), Batch(1, 2, 0, 7, 5, 0, 0)]}
    history.replicas["__consumer_offsets-0"] = repeated
    assert violations(history) == []
    history.replicas["events-1"] = repeated
    assert {one.partition(":")[0] for one in violations(history)} == {"sequences_have_no_gaps"}


def test_every_checker_has_a_history_that_it_finds() -> None:
    assert set(BREAKS.values()) == {checker.__name__ for checker in CHECKERS}


def test_a_world_without_an_end_is_judged_by_its_surprises_alone() -> None:
    history = good_history()
    history.is_complete = False
    lose(history)
    assert violations(history) == []
    surprise(history)
    assert len(violations(history)) == 1
