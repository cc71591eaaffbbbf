"""Moves of replicas between the directories of their brokers, and how far they are."""

from collections.abc import Mapping
from dataclasses import dataclass

from moldau.client.admin.log_dirs import LogDirsArea, Replica


@dataclass(frozen=True, slots=True)
class DirectoryMove:
    """Where a replica is, where it goes now, and where it is to be; None is nowhere."""

    replica: Replica
    wanted: str
    current: str | None
    future: str | None

    @property
    def state(self) -> str:
        """One word for programs."""
        if self.current is None:
            return "missing"
        if self.future is not None:
            return "moving" if self.future == self.wanted else "moving elsewhere"
        return "completed" if self.current == self.wanted else "not moving"

    @property
    def line(self) -> str:
        """What Apache's tool says of it."""
        partition, broker = self.replica.partition, self.replica.broker
        match self.state:
            case "missing":
                return (
                    f"Partition {partition} cannot be found in any live log directory "
                    f"on broker {broker}."
                )
            case "moving":
                return f"Reassignment of replica {partition}-{broker} is still in progress."
            case "moving elsewhere":
                return (
                    f"Partition {partition} on broker {broker} is being moved to log dir "
                    f"{self.future} instead of {self.wanted}."
                )
            case "completed":
                return f"Reassignment of replica {partition}-{broker} completed successfully."
        return (
            f"Partition {partition} on broker {broker} is not being moved from log dir "
            f"{self.current} to {self.wanted}."
        )


async def directory_moves(admin: LogDirsArea, wanted: Mapping[Replica, str]) -> list[DirectoryMove]:
    """How far the replicas are that are to be in these directories."""
    if not wanted:
        return []
    brokers = sorted({each.broker for each in wanted})
    described = (await admin.describe_log_dirs(brokers)).succeeded
    places: dict[tuple[Replica, bool], str] = {
        (Replica(broker, partition), stored.is_future): path
        for broker, directories in described.items()
        for path, directory in directories.items()
        for partition, stored in directory.replicas.items()
    }
    return [
        DirectoryMove(each, path, places.get((each, False)), places.get((each, True)))
        for each, path in sorted(wanted.items())
    ]
