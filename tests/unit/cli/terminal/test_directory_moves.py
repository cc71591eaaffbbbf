"""Moves of replicas between the directories of their brokers."""

import pytest

from moldau.cli.terminal.directory_moves import DirectoryMove
from moldau.client.admin.log_dirs import Replica
from moldau.model import TopicPartition

REPLICA = Replica(1, TopicPartition("t", 0))


@pytest.mark.parametrize(
    ("current", "future", "state", "line"),
    [
        ("/b", None, "completed", "Reassignment of replica t-0-1 completed successfully."),
        ("/a", "/b", "moving", "Reassignment of replica t-0-1 is still in progress."),
        (
            "/a",
            "/c",
            "moving elsewhere",
            "Partition t-0 on broker 1 is being moved to log dir /c instead of /b.",
        ),
        (
            "/a",
            None,
            "not moving",
            "Partition t-0 on broker 1 is not being moved from log dir /a to /b.",
        ),
        (
            None,
            None,
            "missing",
            "Partition t-0 cannot be found in any live log directory on broker 1.",
        ),
    ],
)
def test_how_far_a_replica_is(
    current: str | None, future: str | None, state: str, line: str
) -> None:
    move = DirectoryMove(REPLICA, "/b", current, future)
    assert (move.state, move.line) == (state, line)
