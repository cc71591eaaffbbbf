"""Elections as a node of ZooKeeper."""

import pytest

from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.znodes.elections import elect
from moldau.coordination.memory import MemoryTree
from moldau.model import TopicPartition

PATH = "/admin/preferred_replica_election"


async def test_partitions_that_there_are_stand_in_the_node(
    moved: MemoryTree, capsys: pytest.CaptureFixture[str]
) -> None:
    await elect(moved, [TopicPartition("m", 1), TopicPartition("nope", 0)])
    expected = b'{"version":1,"partitions":[{"topic":"m","partition":1}]}'
    assert (await moved.get(PATH)).data == expected
    assert capsys.readouterr().out.splitlines() == [
        "Created preferred replica election path with m-1",
        "Successfully started preferred replica election for partitions Set(m-1)",
        "Skipping preferred replica leader election for partition nope-0 since it doesn't exist.",
    ]


async def test_all_partitions_are_meant_without_a_list(moved: MemoryTree) -> None:
    await elect(moved, None)
    assert (await moved.get(PATH)).data.count(b"topic") == 2
    with pytest.raises(CommandFailed, match="currently in progress"):
        await elect(moved, None)
