"""A copy from one address to another, by the connectors that a worker would run."""

import hashlib
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from moldau.cli.connecting.addresses import (
    CopyAddress,
    mirror_settings,
    sink_settings,
    source_settings,
)
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.progress import Bar, as_records, progress_bar

if TYPE_CHECKING:
    from moldau.connect.worker.once import Run

_GROUP = "moldau-ingest"
_KAFKA, _OF_SOURCE = "kafka", "source."
_CLASSES = {
    "json": "org.apache.kafka.connect.json.JsonConverter",
    "connect-json": "org.apache.kafka.connect.json.JsonConverter",
    "string": "org.apache.kafka.connect.storage.StringConverter",
    "bytes": "org.apache.kafka.connect.converters.ByteArrayConverter",
    "avro": "io.confluent.connect.avro.AvroConverter",
    "json-schema": "io.confluent.connect.json.JsonSchemaConverter",
    "protobuf": "io.confluent.connect.protobuf.ProtobufConverter",
}
FORMATS = tuple(_CLASSES)
_OF_REGISTRY = ("avro", "json-schema", "protobuf")
_INTEGERS = ("smallint", "integer", "int", "bigint")
_TRANSFORMS = "org.apache.kafka.connect.transforms"


@dataclass(frozen=True, slots=True)
class Ingestion:
    """What the command was asked for."""

    source: CopyAddress
    target: CopyAddress
    value_format: str = "json"
    registry: str | None = None
    key: str | None = None
    """The field that becomes the key of records."""
    client: Mapping[str, str] = field(default_factory=dict, repr=False)
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)
    """More settings of the connector."""
    again: bool = False
    follows: bool = False

    @property
    def name(self) -> str:
        """The same command has the same name, so that it goes on where it was."""
        ends = f"{self.source.identity}\n{self.target.identity}\n{self.key}\n{self.value_format}"
        digest = hashlib.sha256(ends.encode()).hexdigest()[:12]
        return f"ingest-{digest}{f'-{time.time_ns()}' if self.again else ''}"

    @property
    def reads_topic(self) -> bool:
        """Whether a topic is the source, and something else the target."""
        return self.source.scheme == _KAFKA and not self.mirrors

    @property
    def mirrors(self) -> bool:
        """Whether a topic of one cluster is copied to another."""
        return self.source.scheme == self.target.scheme == _KAFKA

    def worker(self) -> dict[str, str]:
        """The settings of the worker that there is not."""
        kafka = self.source if self.reads_topic else self.target
        client = {n: text for n, text in self.client.items() if not n.startswith(_OF_SOURCE)}
        return {
            **client,
            "bootstrap.servers": kafka.servers,
            "group.id": _GROUP,
            "offset.storage.topic": f"{_GROUP}-offsets",
            "offset.storage.partitions": "1",
        }

    def connector(self) -> dict[str, str]:
        """The settings of the connector."""
        if _KAFKA not in (self.source.scheme, self.target.scheme):
            raise CommandFailed("one of both addresses is a topic: kafka://HOST:PORT/TOPIC")
        if self.mirrors:
            if self.key is not None or self.registry is not None:
                raise CommandFailed("a topic is copied as it is: --key and --registry have no use")
            own = {n: text for n, text in self.client.items() if n.startswith(_OF_SOURCE)}
            return {**mirror_settings(self.source, self.target), **own, **self.settings}
        if self.reads_topic:
            found = sink_settings(self.target, self.source.topic)
        else:
            found = source_settings(self.source, self.target.topic)
            if not found.get("mode", "-"):
                found |= _mode(found)
        return {**found, **self._converters(), **self._key(found), **self.settings}

    def _converters(self) -> dict[str, str]:
        role = "value.converter"
        keys = _CLASSES["bytes" if self.reads_topic else "string"]
        found = {role: _CLASSES[self.value_format], "key.converter": keys}
        if self.value_format == "json":
            found[f"{role}.schemas.enable"] = "false"
        if self.value_format in _OF_REGISTRY:
            if self.registry is None:
                raise CommandFailed(f"--format {self.value_format} needs --registry URL")
            found[f"{role}.schema.registry.url"] = self.registry
        return found

    def _key(self, settings: Mapping[str, str]) -> dict[str, str]:
        if self.key is None:
            return {}
        if self.reads_topic:
            raise CommandFailed("--key is for records that are written; a table has ?key=COLUMN")
        before = [settings["transforms"]] if "transforms" in settings else []
        return {
            "transforms": ",".join([*before, "keyed", "plain"]),
            "transforms.keyed.type": f"{_TRANSFORMS}.ValueToKey",
            "transforms.keyed.fields": self.key,
            "transforms.plain.type": f"{_TRANSFORMS}.ExtractField$Key",
            "transforms.plain.field": self.key,
        }


def _mode(settings: Mapping[str, str]) -> dict[str, str]:
    """By a key that is a growing number a table can be resumed; another is copied as a whole."""
    from moldau.connect.connectors.sql.link import DatabaseLink  # noqa: PLC0415 - extra
    from moldau.connect.errors import ConnectError  # noqa: PLC0415

    link, table = DatabaseLink(settings), settings["table.whitelist"]
    try:
        columns = link.database.columns(table)
    except ConnectError as error:
        raise CommandFailed(str(error)) from error
    finally:
        link.close()
    if not columns:
        raise CommandFailed(f"there is no table {table}")
    keys = [each for each in columns if each.is_key]
    if len(keys) == 1 and keys[0].kind in _INTEGERS:
        return {"mode": "incrementing", "incrementing.column.name": keys[0].name}
    return {"mode": "bulk"}


def ingest(ingestion: Ingestion) -> str:
    """Copy, and say what was done."""
    try:
        from moldau.connect.errors import ConnectError  # noqa: PLC0415 - --help does without it
        from moldau.connect.worker.once import Run, run_once  # noqa: PLC0415
        from moldau.connect.worker.plugins import Plugins  # noqa: PLC0415
        from moldau.connect.worker.settings import WorkerSettings  # noqa: PLC0415
    except ImportError as error:
        raise CommandFailed(f"{error}: pip install 'moldau[connect]'") from error

    name, run = ingestion.name, Run(follows=ingestion.follows)
    config = {**ingestion.connector(), "name": name}
    started_s = time.monotonic()
    try:
        plugin = Plugins().find(config["connector.class"])
        with _shown(run), _stoppable(run):
            run_once(WorkerSettings(ingestion.worker()), name, plugin, config, run)
    except ConnectError as error:
        raise CommandFailed(str(error)) from error
    return _result(run, time.monotonic() - started_s)


def _result(run: "Run", elapsed_s: float) -> str:
    if not run.records and not run.stop.is_set():
        return "nothing new since the last run; --again copies everything once more"
    rate = f"{run.records / max(elapsed_s, 0.001):,.0f} records/s"
    done = f"{as_records(run.records)} in {elapsed_s:.1f} s, {rate}"
    return f"{done}; stopped, the same command goes on" if run.stop.is_set() else done


@contextmanager
def _shown(run: "Run") -> Iterator[None]:
    """A bar at a terminal, once it is known how much there is."""
    with ExitStack() as around:
        bars: list[Bar] = []

        def started(total: int | None) -> None:
            bar = around.enter_context(progress_bar(total, as_records))
            bars.extend([bar] if bar is not None else [])

        def count(records: int) -> None:
            for bar in bars:
                bar.advance(records)

        run.started, run.count = started, count
        yield


@contextmanager
def _stoppable(run: "Run") -> Iterator[None]:
    """Ctrl-C lets the batch end that is under way."""
    before = {
        number: signal.signal(number, lambda *_: run.stop.set())
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
