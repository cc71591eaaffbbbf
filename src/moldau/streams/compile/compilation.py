"""A query while it is compiled: the frames of its nodes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, Never

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from moldau.streams.compile.counters import Counters
from moldau.streams.compile.failures import FailedStep
from moldau.streams.compile.inputs import Inputs
from moldau.streams.errors import FAILING, ErrorPolicy
from moldau.streams.nodes.nodes import Node, ancestors

# Append gives nothing but final rows; update gives every row that a micro-batch has changed.
Mode = Literal["append", "update"]

# Each function takes a node of its own kind.
Operator = Callable[[Never, "Compilation"], DataFrame]


@dataclass(frozen=True, slots=True)
class Compilation:
    """Makes the frame of each node once, by the operator of its kind."""

    inputs: Inputs
    application: str
    mode: Mode
    operators: Mapping[type[Node], Operator]
    frames: dict[Node, DataFrame] = field(default_factory=dict)
    errors: ErrorPolicy = FAILING
    counters: Counters = field(default_factory=Counters)

    def on(self, frames: dict[Node, DataFrame]) -> "Compilation":
        """The same for a micro-batch, of which these frames are known."""
        return replace(self, frames=frames)

    def failed_step(self, node: Node) -> FailedStep:
        """What a node does with records that its functions fail on."""
        letters = self.inputs.letters()
        return FailedStep(
            node.name, self.application, self.errors, letters, self.counters.failed_records
        )

    def frame(self, node: Node) -> DataFrame:
        """The records that a node gives."""
        if node not in self.frames:
            operator = self.operators.get(type(node))
            assert operator is not None, f"no operator for {type(node).__name__}"
            try:
                # The table pairs each kind of node with a function for it.
                self.frames[node] = operator(node, self)  # type: ignore[arg-type]
            except (PySparkException, TypeError) as error:
                if not hasattr(error, "__notes__"):
                    error.add_note(f"in the step {node.name}")
                raise
        return self.frames[node]

    def parent(self, node: Node) -> DataFrame:
        """The records that come to a node with one parent."""
        (parent,) = node.parents
        return self.frame(parent)

    def keyed_parent(self, node: Node) -> DataFrame:
        """The records that come to a stateful node, by key.

        Spark cannot have two state stores in one stage, so after another stateful step they are
        shuffled even where they lie right.
        """
        frame = self.parent(node)
        (parent,) = node.parents
        if any(each.is_stateful for each in ancestors(parent)):
            return frame.repartition("key")
        return frame
