"""Which function makes a frame of which kind of node: the place to add a new kind."""

from collections.abc import Mapping

from moldau.streams.compile import (
    aggregation,
    changes,
    edges,
    folds,
    joining_foreign_keys,
    joining_global,
    joining_streams,
    joining_tables,
    limiting,
    processing,
    stateless,
)
from moldau.streams.compile.compilation import Operator
from moldau.streams.nodes import joins as join_nodes
from moldau.streams.nodes import nodes
from moldau.streams.nodes import processors as processor_nodes

OPERATORS: Mapping[type[nodes.Node], Operator] = {
    nodes.StreamSource: edges.source,
    nodes.TableSource: edges.source,
    nodes.GlobalTableSource: edges.global_table,
    nodes.Decode: edges.decode,
    nodes.Sink: edges.sink,
    nodes.DeadLetters: edges.dead_letters,
    nodes.Filter: stateless.filtered,
    nodes.Map: stateless.mapped,
    nodes.MapValues: stateless.with_mapped_values,
    nodes.FlatMap: stateless.flat_mapped,
    nodes.FlatMapValues: stateless.with_flat_mapped_values,
    nodes.SelectKey: stateless.with_selected_key,
    nodes.Peek: stateless.peeked,
    nodes.Split: stateless.unchanged,
    nodes.Branch: stateless.branch,
    nodes.Merge: stateless.merged,
    nodes.Repartition: stateless.repartitioned,
    nodes.ToStream: stateless.unchanged,
    nodes.ToTable: stateless.unchanged,
    nodes.Changes: changes.changes,
    nodes.Summarize: aggregation.summarized,
    nodes.Fold: folds.folded,
    nodes.Suppress: stateless.unchanged,
    nodes.TimeLimit: limiting.limited,
    join_nodes.StreamJoin: joining_streams.stream_with_stream,
    join_nodes.StreamTableJoin: joining_tables.stream_with_table,
    join_nodes.TableJoin: joining_tables.table_with_table,
    join_nodes.ForeignKeyJoin: joining_foreign_keys.table_with_foreign_table,
    join_nodes.GlobalJoin: joining_global.stream_with_global_table,
    processor_nodes.Process: processing.processed,
}
