"""Our settings against those of Apache Kafka 3.9, and the tables that the unit tests use."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.apache.lines import JavaError, JavaProgram
from conformance.apache.marks import needs_apache
from conformance.conftest import show_download
from moldau.config.alteration import Alteration, AlterOperation, alter
from moldau.config.broker.broker import broker_settings
from moldau.config.broker.startup import read_startup
from moldau.config.definition import Setting
from moldau.config.properties import format_properties, parse_properties
from moldau.config.topic import topic_settings
from moldau.config.values import ConfigType
from moldau.errors import InvalidConfig

pytestmark = needs_apache("kafka-3.9")

_TABLES = Path(__file__).parents[1] / "unit" / "config"
_NULL = "\\N"


@pytest.fixture(scope="module")
def kafka(request: pytest.FixtureRequest) -> Iterator[JavaProgram]:
    """The settings classes of Kafka 3.9, answering calls."""
    show_download(request, "kafka-3.9")
    with JavaProgram("settings", "kafka-3.9") as program:
        yield program


@pytest.mark.parametrize("which", ["broker", "topic"])
def test_the_table_of_settings_is_what_kafka_has(kafka: JavaProgram, which: str) -> None:
    header, *lines = (_TABLES / f"apache-3.9-{which}.tsv").read_text().splitlines()
    columns = header.split("\t")
    table = [dict(zip(columns, line.split("\t"), strict=True)) for line in lines]
    theirs = [
        {column: _NULL if row[column] is None else row[column] for column in columns}
        for row in kafka.call(f"{which}_settings")
    ]
    assert sorted(table, key=_name) == sorted(theirs, key=_name)


def test_kafka_starts_with_the_texts_that_the_table_says(kafka: JavaProgram) -> None:
    for texts, is_accepted in _lines("apache-3.9-starts.jsonl"):
        assert _accepts(kafka, "start", texts=texts) == is_accepted, texts


def test_kafka_takes_the_dynamic_texts_that_the_table_says(kafka: JavaProgram) -> None:
    for texts, is_for_one_broker, is_accepted in _lines("apache-3.9-dynamic.jsonl"):
        accepts = _accepts(
            kafka, "validate_dynamic", texts=texts, is_for_one_broker=is_for_one_broker
        )
        assert accepts == is_accepted, texts


def test_kafka_describes_settings_as_the_table_does(kafka: JavaProgram) -> None:
    layers, *entries = _lines("apache-3.9-described.jsonl")
    theirs = kafka.call("describe", **layers)
    assert sorted(theirs, key=_place) == sorted(entries, key=_place)


def test_java_reads_properties_as_the_table_says(kafka: JavaProgram) -> None:
    for text, expected in _lines("java-properties.jsonl"):
        try:
            loaded = kafka.call("properties", text=text)
        except JavaError:
            loaded = None
        assert loaded == expected, text


def test_java_reads_back_the_properties_that_we_write(kafka: JavaProgram) -> None:
    chance = random.Random(1)
    for _ in range(100):
        values = {_some_text(chance): _some_text(chance) for _ in range(3)}
        written = format_properties(values, ["a comment"])
        assert kafka.call("properties", text=written) == values == parse_properties(written)


def test_lists_are_altered_as_kafka_alters_them(kafka: JavaProgram) -> None:
    chance = random.Random(2)
    elements = ["", "a", "b", "a,b", "b,a,a", " a", "c,a"]
    for _ in range(300):
        current = {"cleanup.policy": chance.choice(elements)} if chance.random() < 0.7 else {}
        operation = chance.choice(list(AlterOperation))
        value = None if operation is AlterOperation.DELETE else chance.choice(elements[1:])
        theirs = kafka.call(
            "alter", current=current, setting="cleanup.policy", operation=operation, value=value
        )
        alteration = Alteration("cleanup.policy", operation, value)
        assert alter(current, [alteration], topic_settings()) == theirs, (current, alteration)


def test_numbers_are_refused_where_kafka_refuses_them(kafka: JavaProgram) -> None:
    """Every broker setting with a number, at and around the ends of its type and its range."""
    for setting in broker_settings().values():
        if setting.name.startswith("moldau.") or not _is_number(setting):
            continue
        for text in _AROUND:
            texts = {"zookeeper.connect": "h:1", setting.name: text}
            assert _starts(texts) == _accepts(kafka, "start", texts=texts), texts


def _starts(texts: dict[str, str]) -> bool:
    try:
        read_startup(texts)
    except InvalidConfig:
        return False
    return True


def _is_number(setting: Setting) -> bool:
    return setting.type in (ConfigType.INT, ConfigType.SHORT, ConfigType.LONG, ConfigType.DOUBLE)


_BOUNDS = (-(2**63), 2**63 - 1, -(2**31), 2**31 - 1, -(2**15), 2**15 - 1, -2, 1, 13, 1024)
_AROUND = [
    *(str(bound + step) for bound in _BOUNDS for step in (-1, 0, 1)),
    *("", "x", "1.5", "+1", " 1 ", "1_0", "TRUE"),
]


def _accepts(kafka: JavaProgram, call: str, **arguments: object) -> bool:
    try:
        kafka.call(call, **arguments)
    except JavaError:
        return False
    return True


def _some_text(chance: random.Random) -> str:
    return "".join(chance.choice("ab =:#!\\\t\n\r\fé😀") for _ in range(chance.randrange(6)))


def _lines(name: str) -> list[Any]:
    return [json.loads(line) for line in (_TABLES / name).read_text().splitlines()]


def _name(row: dict[str, Any]) -> str:
    return str(row["name"])


def _place(entry: dict[str, Any]) -> tuple[str, str]:
    return entry["resource"], entry["name"]
