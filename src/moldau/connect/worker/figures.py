"""What a worker counts of its connectors, as metrics for Prometheus."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from moldau.connect.storage.records import Status
from moldau.runtime.metrics import Metrics

Labels = tuple[tuple[str, str], ...]
_PREFIX = "moldau_connect_"


@dataclass(slots=True)
class ConnectorFigures:
    """Of one connector; its tasks add to them from their threads."""

    records: int = 0
    failures: int = 0
    _measured: dict[int, Mapping[str, float]] = field(default_factory=dict)

    def add(self, task: int, records: int, measured: Mapping[str, float]) -> None:
        """Note records that were stored or written, and what a source has measured."""
        self.records += records
        if measured:
            self._measured[task] = dict(measured)

    @property
    def measured(self) -> Mapping[str, float]:
        """The sums of what its tasks have measured."""
        found: dict[str, float] = {}
        for each in list(self._measured.values()):
            for name, value in each.items():
                found[name] = found.get(name, 0) + value
        return found


class Counted(Protocol):
    """A connector as a worker has it."""

    kind: str
    status: Status
    task_statuses: dict[int, Status]
    figures: ConnectorFigures


def metrics_of(running: Mapping[str, Counted]) -> Metrics:
    """Metrics that read what is running when they are asked for."""
    found = Metrics()

    def connectors() -> Iterator[tuple[Labels, float]]:
        for name, each in sorted(running.items()):
            yield (("connector", name), ("type", each.kind), ("state", each.status.state)), 1

    def tasks() -> Iterator[tuple[Labels, float]]:
        for name, each in sorted(running.items()):
            for number, status in sorted(each.task_statuses.items()):
                yield (("connector", name), ("task", str(number)), ("state", status.state)), 1

    def measured() -> Iterator[tuple[Labels, float]]:
        for name, each in sorted(running.items()):
            for what, value in sorted(each.figures.measured.items()):
                yield (("connector", name), ("name", what)), value

    def counted(attribute: str) -> Iterator[tuple[Labels, float]]:
        for name, each in sorted(running.items()):
            yield (("connector", name),), getattr(each.figures, attribute)

    about = {
        "connector_state": "Connectors, each with the state that it is in.",
        "task_state": "Tasks, each with the state that it is in.",
        "source_measurement": "What sources know of the other system.",
    }
    readers = {"connector_state": connectors, "task_state": tasks, "source_measurement": measured}
    for name, read in readers.items():
        found.gauges(f"{_PREFIX}{name}", about[name], read)
    found.gauges(
        f"{_PREFIX}records_total",
        "Records that sources have stored in topics, or sinks have written.",
        lambda: counted("records"),
    )
    found.gauges(
        f"{_PREFIX}task_failures_total",
        "How often tasks have failed, restarts among them.",
        lambda: counted("failures"),
    )
    return found
