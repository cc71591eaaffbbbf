"""What Debezium wrote, and what a capture of ours gives, brought to one form."""

import json
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from moldau.connect.connector import Offset, Source
from moldau.connect.data.record import Outgoing
from moldau.connect.worker.pipeline import SourcePipeline

DIRECTORY = Path(__file__).with_name("connect")
_DEADLINE_S = 60
_CLOCKS = ("ts_ms", "ts_us", "ts_ns", "__source_ts_ms")
PLACES = ("lsn", "txId", "__lsn", "pos", "gtid")
Json = dict[str, object]


class Captured:
    """A connector with one of Debezium's configurations, read here by hand."""

    def __init__(self, config: Mapping[str, str], kind: type[Source]) -> None:
        json_converter = "org.apache.kafka.connect.json.JsonConverter"
        worker = {"key.converter": json_converter, "value.converter": json_converter}
        self.found: dict[str, list[Outgoing]] = {}
        self.offset: Offset | None = None
        self._pipeline = SourcePipeline(worker, config)
        self._source = kind(config)

    def read_until(self, topic: str, count: int = 1) -> None:
        """Read on until a topic has so many records."""
        (partition,) = self._source.partitions()
        deadline = time.monotonic() + _DEADLINE_S
        while len(self.found.get(topic, ())) < count:
            assert time.monotonic() < deadline, {each: len(has) for each, has in self.found.items()}
            batch = self._source.read(partition, self.offset, 10_000)
            if batch is None:
                continue
            for each in self._pipeline.outgoing(batch):
                assert isinstance(each, Outgoing), each
                self.found.setdefault(each.topic, []).append(each)
            self.offset = batch.offset
            self._source.commit(partition, batch.offset)

    def close(self) -> None:
        self._source.close()


def golden(name: str) -> tuple[dict[str, dict[str, str]], dict[str, list[Json]]]:
    """The configurations by name, the records by topic."""
    lines = (DIRECTORY / f"{name}.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    configs = {each["name"]: each["config"] for each in rows if each["what"] == "connector"}
    topics: dict[str, list[Json]] = {}
    for each in rows:
        if each["what"] == "record":
            topics.setdefault(each["topic"], []).append(each)
    return configs, topics


def statements(text: str) -> Iterator[str]:
    for each in re.split(r";[ ]*\n", re.sub(r"--.*", "", text)):
        if each.strip():
            yield each


def shaped(value: object) -> object:
    """A record's value with shapes in the place of what differs from run to run."""
    if not isinstance(value, dict):
        return value
    if set(value) == {"schema", "payload"}:
        return {"schema": value["schema"], "payload": shaped(value["payload"])}
    found = {name: each for name, each in value.items() if name not in (*_CLOCKS, *PLACES)}
    for name in (*_CLOCKS, *PLACES):
        if name in value:
            found[name] = type(value[name]).__name__
    if isinstance(value.get("source"), dict):
        found["source"] = shaped_source(value["source"])
    block = value.get("transaction")
    if isinstance(block, dict):
        assert re.fullmatch(r"\d+:\d+|\d+-\d+-\d+", str(block["id"]))
        found["transaction"] = {**block, "id": "*"}
    return found


def shaped_source(source: Json) -> Json:
    assert str(source["version"])
    if source["sequence"] is not None:
        last, own = json.loads(str(source["sequence"]))
        assert own == str(source["lsn"])
        # Before the first commit there may be none, with Debezium as well.
        assert last is None or (last.isdigit() and source["snapshot"] == "false")
    kept = shaped({name: each for name, each in source.items() if name != "sequence"})
    assert isinstance(kept, dict)
    return {**kept, "version": "*", "has_sequence": source["sequence"] is not None}


def list_of_names(value: object) -> object:
    """Names in their order, at all depths."""
    if isinstance(value, dict):
        return [(name, list_of_names(each)) for name, each in value.items()]
    return [list_of_names(each) for each in value] if isinstance(value, list) else None


def headers_of(record: Outgoing) -> list[tuple[str, str]]:
    return [(name, (data or b"").decode()) for name, data in record.headers]


def golden_headers(record: Json) -> list[tuple[str, str]]:
    listed = record["headers"] or []
    assert isinstance(listed, list)
    pairs = zip(listed[::2], listed[1::2], strict=True)
    return [(name, text) for name, text in pairs if not name.startswith("__debezium.context.")]
