"""What a query counts beside what Spark does: added to by workers, read by the driver."""

from dataclasses import dataclass, field

from pyspark import SparkContext

from moldau.streams.compile.failures import Tally


@dataclass(slots=True)
class PlainCounter:
    """A counter of this process."""

    value: int = 0

    def add(self, term: int) -> None:
        self.value += term


@dataclass(frozen=True, slots=True)
class Counters:
    """A task that is repeated counts again: these are for people, not for accounts."""

    # Records that came after their window had closed, of steps whose state Python keeps.
    late_records: Tally = field(default_factory=PlainCounter)
    # Records that functions failed on and that were left out.
    failed_records: Tally = field(default_factory=PlainCounter)

    @classmethod
    def of_cluster(cls, context: SparkContext) -> "Counters":
        return cls(context.accumulator(0), context.accumulator(0))
