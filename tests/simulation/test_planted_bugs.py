"""The simulation finds bugs: each that is planted breaks an invariant in the seed beside it.

They are planted here, in the test's own process, and never in the product. How a seed goes
changes with everything that is sent; who has changed that looks for another one with `FIND`.
"""

import os
from dataclasses import replace
from itertools import count

import pytest

from simulation import planted
from simulation.planted import Plant
from simulation.scenario import play
from simulation.shapes import SHAPES, Shape

THREE = replace(SHAPES[3][0], parts=())
ONE = replace(SHAPES[1][0], parts=())
# With it in the environment the seeds from 1 on are tried, and the first that does is named.
FIND = "MOLDAU_FIND_SEEDS"

BUGS: dict[Plant, tuple[Shape, int, str]] = {
    planted.join_before_catching_up: (THREE, 1, "acknowledged_records_are_there_once"),
    planted.forget_where_epochs_end: (THREE, 6, "replicas_agree"),
    planted.keep_logs_of_deleted_topics: (
        replace(THREE, parts=("lives of topics",)),
        1,
        "nobody_is_surprised",
    ),
    planted.take_any_sequence: (THREE, 3, "producers_keep_their_order"),
    planted.forget_repeated_batches: (THREE, 3, "nobody_is_surprised"),
    planted.give_producer_ids_twice: (THREE, 2, "nobody_is_surprised"),
    planted.acknowledge_before_the_sync: (ONE, 1, "acknowledged_records_are_there_once"),
    planted.assign_to_all_what_is_one_member_s: (THREE, 1, "generations_have_one_owner"),
    planted.give_before_it_is_given_up: (
        replace(THREE, parts=("reconciliation",)),
        1,
        "partitions_have_one_owner_at_a_time",
    ),
    planted.acknowledge_one_record_too_early: (THREE, 3, "acknowledged_records_are_there_once"),
    planted.acknowledge_before_replication: (THREE, 2, "acknowledged_records_are_there_once"),
    planted.answer_with_the_place_of_another_batch: (THREE, 1, "offsets_hold_one_value"),
    planted.append_without_leading: (THREE, 1, "nobody_is_surprised"),
    planted.elect_out_of_sync: (THREE, 4, "acknowledged_records_are_there_once"),
    planted.truncate_to_the_high_watermark: (THREE, 6, "nobody_is_surprised"),
    planted.keep_producers_of_what_was_cut: (THREE, 5, "nobody_is_surprised"),
    planted.forget_aborted_transactions: (ONE, 1, "transactions_are_whole"),
    planted.forget_aborted_transactions_in_our_consumer: (
        replace(ONE, parts=("own clients",)),
        1,
        "committed_reads_are_committed",
    ),
    planted.lose_wake_ups: (THREE, 1, "nobody_is_surprised"),
    planted.forget_open_transactions: (ONE, 1, "committed_reads_are_committed"),
    planted.answer_before_coordinators_have_replicated: (THREE, 3, "commits_are_kept"),
    planted.never_take_back: (THREE, 5, "nobody_is_surprised"),
    planted.take_the_next_life_for_the_last: (THREE, 1, "nobody_is_surprised"),
}

PLAYED = {
    f"{shape.broker_count} brokers, {shape.parts}, seed {seed}": (shape, seed)
    for shape, seed, _ in BUGS.values()
}


def test_there_are_twenty() -> None:
    assert len(BUGS) >= 20


@pytest.mark.parametrize("plant", BUGS, ids=lambda plant: plant.__name__)
def test_a_planted_bug_is_found(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    shape, seed, checker = BUGS[plant]
    plant(monkeypatch)
    if FIND in os.environ:
        seed = next(seed for seed in count(1) if play(seed, shape).violations)
        print(f"{plant.__name__}: {seed}")
    found = [violation.partition(":")[0] for violation in play(seed, shape).violations]
    assert checker in found


@pytest.mark.parametrize("played", PLAYED)
def test_without_a_bug_the_seed_is_good(played: str) -> None:
    shape, seed = PLAYED[played]
    assert play(seed, shape).violations == []
