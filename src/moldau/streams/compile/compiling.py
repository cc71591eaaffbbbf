"""From a topology to Spark's queries.

All sinks of a component that want the same mode are one query. Where they all follow, statelessly,
from one node, the query gives the records of that node, read once, and the rest is done with each
micro-batch. Otherwise it gives the rows of all sinks.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from moldau.streams.compile.compilation import Compilation, Mode
from moldau.streams.compile.inputs import Inputs
from moldau.streams.compile.naming import in_order, label_of, unique
from moldau.streams.compile.operators import OPERATORS
from moldau.streams.compile.records import KEY, VALUE, type_of
from moldau.streams.compile.signatures import QuerySignature
from moldau.streams.nodes.nodes import (
    GlobalTableSource,
    Node,
    Sink,
    TimeLimit,
    ancestors,
    windows_of,
)
from moldau.streams.nodes.processors import Process

if TYPE_CHECKING:
    from moldau.streams.topology import Topology


@dataclass(frozen=True, slots=True)
class Query:
    """One query: its streaming frame, what its micro-batches become, and what it keeps."""

    name: str
    mode: Mode
    frame: DataFrame
    sinks: tuple[Sink, ...]
    # The node whose records the frame has; None if it has the rows of all sinks.
    fan_out: Node | None
    compilation: Compilation
    signature: QuerySignature

    def outputs(self, batch: DataFrame) -> DataFrame:
        """Rows to be written (key, value, topic, headers, timestamp) of a micro-batch."""
        if self.fan_out is None:
            return batch
        compilation = self.compilation.on({self.fan_out: batch})
        return _united([compilation.frame(sink) for sink in self.sinks])


def compiled(topology: "Topology", inputs: Inputs, application: str) -> tuple[Query, ...]:
    """The queries of a topology."""
    for node in topology.nodes:
        _check_time(node)
    chosen = tuple(_sinks_by_query(topology))
    labels = unique(label_of(sinks, is_final=mode == "append") for mode, sinks in chosen)
    queries = []
    for label, (mode, sinks) in zip(labels, chosen, strict=True):
        compilation = Compilation(
            inputs,
            application,
            mode,
            OPERATORS,
            errors=topology.errors,
            counters=inputs.counters(),
        )
        fan_out = _fan_out(sinks) if len(sinks) > 1 or _has_global_table(sinks) else None
        if fan_out is None:
            frame = _united([compilation.frame(sink) for sink in sinks])
        else:
            frame = compilation.frame(fan_out)
        signature = _signature(compilation, sinks if fan_out is None else (fan_out,))
        name = f"{application}-{label}"
        queries.append(Query(name, mode, frame, sinks, fan_out, compilation, signature))
    return tuple(queries)


def _signature(compilation: Compilation, roots: tuple[Node, ...]) -> QuerySignature:
    """What the state of a query depends on; nodes behind its frame have none."""
    nodes = in_order(roots)
    typed = {each for node in nodes if node.is_stateful for each in (node, *node.parents)}
    types = {
        node: (type_of(frame, KEY), type_of(frame, VALUE))
        for node, frame in compilation.frames.items()
        if node in typed
    }
    return QuerySignature.of(compilation.mode, nodes, types)


def _check_time(node: Node) -> None:
    """Time runs once in a query: windows of what windows gave would need another watermark.

    So would windows of what timers gave, which comes when its time has long passed.
    """
    own = _way_of_time(node)
    if own is None:
        return
    for other in ancestors(node):
        before = None if other is node else _way_of_time(other)
        if before is not None:
            raise TypeError(
                f"{node.name} has {own}, and {other.name} before it has {before}: "
                "put .through(topic) between them, which begins a new query"
            )


def _way_of_time(node: Node) -> str | None:
    """By what a node follows the time of records, if it does."""
    if windows_of(node) is not None:
        return "windows"
    if isinstance(node, Process) and node.processor.time == "event":
        return "timers of event time"
    if isinstance(node, TimeLimit):
        return "a time limit"
    return None


def _sinks_by_query(topology: "Topology") -> Iterator[tuple[Mode, tuple[Sink, ...]]]:
    for component in topology.components():
        sinks = [node for node in component if isinstance(node, Sink)]
        final = tuple(sink for sink in sinks if any(each.is_final for each in ancestors(sink)))
        other = tuple(sink for sink in sinks if sink not in final)
        if final:
            yield "append", final
        if other:
            yield "update", other


def _fan_out(sinks: tuple[Sink, ...]) -> Node | None:
    """The last node from which all sinks follow without state in between, if there is one."""
    shared = [set(_stateless_ancestors(sink)) for sink in sinks]
    for node in ancestors(sinks[0]):
        is_shared = all(node in each for each in shared)
        if (
            is_shared
            and not _has_global_table((node,))
            and all(_only_by(each, node) for each in sinks)
        ):
            return node
    if _has_global_table(sinks):
        raise TypeError(
            "a global table is read anew for each micro-batch, so nothing that keeps state may "
            "follow from it: put .through(topic) after the join, which begins a new query"
        )
    return None


def _has_global_table(nodes: tuple[Node, ...]) -> bool:
    return any(isinstance(each, GlobalTableSource) for node in nodes for each in ancestors(node))


def _stateless_ancestors(node: Node) -> Iterator[Node]:
    """What a node depends on, up to the first stateful nodes."""
    for parent in node.parents:
        yield parent
        if not parent.is_stateful:
            yield from _stateless_ancestors(parent)


def _only_by(node: Node, source: Node) -> bool:
    """Whether all that a node gets has come by that source."""
    return (
        node is source
        or isinstance(node, GlobalTableSource)
        or (
            bool(node.parents)
            and not (node.is_stateful and node is not source)
            and all(_only_by(parent, source) for parent in node.parents)
        )
    )


def _united(frames: list[DataFrame]) -> DataFrame:
    return reduce(DataFrame.union, frames)
