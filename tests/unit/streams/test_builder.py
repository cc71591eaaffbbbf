"""Where topologies begin; importing does not bring Spark in."""

import subprocess
import sys

import pytest

from moldau.streams import BYTES, LONG, STRING, StreamsBuilder
from moldau.streams.nodes.nodes import (
    DeadLetters,
    Decode,
    GlobalTableSource,
    StreamSource,
    TableSource,
)


def test_importing_streams_brings_neither_spark_nor_arrow() -> None:
    code = "import sys, moldau.streams; print({'pyspark', 'pyarrow', 'pandas'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_topics_are_streams_and_tables() -> None:
    builder = StreamsBuilder()
    stream = builder.stream("a", "b", value=LONG).node
    assert isinstance(stream, StreamSource)
    assert (stream.topics, stream.key, stream.value) == (("a", "b"), STRING, LONG)
    assert isinstance(builder.table("c").node, TableSource)
    assert isinstance(builder.global_table("d").node, GlobalTableSource)


def test_dead_letters_go_their_own_way() -> None:
    builder = StreamsBuilder()
    decode = builder.stream("a", value=LONG, dead_letters="unreadable").node
    assert isinstance(decode, Decode)
    (source,) = decode.parents
    assert isinstance(source, StreamSource)
    assert source.value == BYTES
    (letters,) = builder.build().sinks
    assert isinstance(letters, DeadLetters)
    assert (letters.topic, letters.expected_value) == ("unreadable", LONG)


def test_a_topology_reads_and_writes_something() -> None:
    with pytest.raises(ValueError, match="name a topic"):
        StreamsBuilder().stream()
    builder = StreamsBuilder()
    builder.stream("a")
    with pytest.raises(ValueError, match="nothing is written"):
        builder.build()
