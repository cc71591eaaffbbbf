"""Plans of moves; read through the command in its own tests."""

import pytest

from moldau.cli.reassign_partitions import OPTIONS
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.move_plan import as_json, brokers_of, propose
from moldau.model import TopicPartition
from moldau.runtime.random import SystemRandom


def test_a_plan_is_printed_as_it_is_read() -> None:
    assert as_json({TopicPartition("t", 1): [2, 3]}) == (
        '{"version":1,"partitions":[{"topic":"t","partition":1,"replicas":[2,3],'
        '"log_dirs":["any","any"]}]}'
    )


def test_racks_count_if_all_brokers_have_one() -> None:
    given = OPTIONS.parse(["--broker-list", "0,1"])
    assert [each.rack for each in brokers_of(given, {0: "a", 1: "b"})] == ["a", "b"]
    assert [each.rack for each in brokers_of(given, {0: "a"})] == [None, None]
    with pytest.raises(CommandFailed, match="x are no numbers"):
        brokers_of(OPTIONS.parse(["--broker-list", "x"]), {})


def test_a_proposal_has_as_many_replicas_as_before_on_the_brokers_named() -> None:
    current = {TopicPartition("t", 0): [5, 6], TopicPartition("t", 1): [6, 5]}
    given = OPTIONS.parse(["--broker-list", "0,1,2"])
    proposed = propose(current, brokers_of(given, {}), SystemRandom())
    assert proposed.keys() == current.keys()
    assert all(len(set(each)) == 2 and set(each) <= {0, 1, 2} for each in proposed.values())
