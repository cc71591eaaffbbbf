"""Kafka-Streams-like topologies that run on Spark: streams, tables, windows, aggregations."""

from moldau.streams.builder import StreamsBuilder
from moldau.streams.functions import vectorized
from moldau.streams.join_windows import JoinWindows
from moldau.streams.processors import (
    Context,
    ListStore,
    MapStore,
    Processor,
    Record,
    ValueStore,
)
from moldau.streams.serdes import (
    BYTES,
    INTEGER,
    LONG,
    STRING,
    avro,
    in_format,
    json,
    protobuf,
    session_windowed,
    time_windowed,
)
from moldau.streams.stream import KStream
from moldau.streams.table import GlobalKTable, KTable
from moldau.streams.topology import Topology
from moldau.streams.windows import SessionWindows, SlidingWindows, TimeWindows

__all__ = [
    "BYTES",
    "INTEGER",
    "LONG",
    "STRING",
    "Context",
    "GlobalKTable",
    "JoinWindows",
    "KStream",
    "KTable",
    "ListStore",
    "MapStore",
    "Processor",
    "Record",
    "SessionWindows",
    "SlidingWindows",
    "StreamsBuilder",
    "TimeWindows",
    "Topology",
    "ValueStore",
    "avro",
    "in_format",
    "json",
    "protobuf",
    "session_windowed",
    "time_windowed",
    "vectorized",
]
