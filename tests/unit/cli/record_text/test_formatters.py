"""Records to lines."""

import pytest

from moldau.cli.record_text.formatters import (
    DefaultFormatter,
    SilentFormatter,
    ValueFormatter,
    find_formatter,
)
from moldau.cli.terminal.failure import CommandFailed
from moldau.client.record import ConsumerRecord

RECORD = ConsumerRecord("t", 2, 7, 1_700_000_000_000, b"k", b"v", (("a", b"1"), ("b", None)))
BARE = ConsumerRecord[bytes, bytes]("t", 0, 0, -1, None, None)


def written(*pairs: str) -> bytes:
    properties = dict(pair.split("=", 1) for pair in pairs)
    return find_formatter("", properties).write([RECORD, BARE])


def test_values_alone_are_the_default() -> None:
    assert isinstance(find_formatter("", {}), ValueFormatter)
    assert written() == b"v\nnull\n"
    assert ValueFormatter().write([]) == b""


def test_all_parts_are_printed_in_apaches_order() -> None:
    every = [
        f"print.{part}=true" for part in ("key", "timestamp", "partition", "offset", "headers")
    ]
    assert written(*every) == (
        b"CreateTime:1700000000000\tPartition:2\tOffset:7\ta:1,b:null\tk\tv\n"
        b"NO_TIMESTAMP\tPartition:0\tOffset:0\tNO_HEADERS\tnull\tnull\n"
    )


def test_separators_and_nulls_can_be_chosen() -> None:
    pairs = ("print.key=true", "key.separator= = ", "line.separator=;", "null.literal=-")
    assert written(*pairs) == b"k = v;- = -;"
    others = ("print.headers=true", "print.value=false", "headers.separator=|")
    assert written(*others) == b"a:1|b:null\nNO_HEADERS\n"


def test_deserializers_can_be_chosen() -> None:
    name = "org.apache.kafka.common.serialization.StringDeserializer"
    pairs = [f"{part}.deserializer={name}" for part in ("key", "value", "headers")]
    assert written("print.key=true", *pairs) == b"k\tv\nnull\tnull\n"


def test_the_type_of_a_topics_times_is_told() -> None:
    formatter = find_formatter("", {"print.timestamp": "true", "print.value": "false"})
    assert isinstance(formatter, DefaultFormatter)
    assert formatter.shows_timestamps
    formatter.timestamp_types = {"t": "LogAppendTime"}
    assert formatter.write([RECORD]) == b"LogAppendTime:1700000000000\n"


def test_javas_class_names_are_understood() -> None:
    for name in ("kafka.tools.DefaultMessageFormatter", "kafka.tools.LoggingMessageFormatter"):
        assert isinstance(find_formatter(name, {}), ValueFormatter)
    silent = find_formatter("org.apache.kafka.tools.consumer.NoOpMessageFormatter", {})
    assert isinstance(silent, SilentFormatter)
    assert silent.write([RECORD]) == b""


def test_an_unknown_formatter_is_named() -> None:
    with pytest.raises(CommandFailed, match=r"no message formatter com\.example\.Pretty"):
        find_formatter("com.example.Pretty", {})
