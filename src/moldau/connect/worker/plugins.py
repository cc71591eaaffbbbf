"""The connectors that there are: those of Moldau, and of packages that are installed beside it.

A package adds one by an entry point of the group `moldau.connectors`, whose name is the
connector's class in settings and whose value is a subclass of `Source` or `Sink`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.metadata import entry_points

from moldau.connect.config.definition import PluginSetting, kafka_settings
from moldau.connect.config.validation import SINK, SOURCE
from moldau.connect.connector import Sink, Source
from moldau.connect.converters.lookup import CONVERTERS, HEADER_CONVERTERS
from moldau.connect.errors import ConfigError
from moldau.connect.transforms.chain import TRANSFORMATIONS
from moldau.connect.transforms.predicates import PREDICATES

KAFKA_VERSION = "3.9.2"
_GROUP = "moldau.connectors"
_OWN = {
    "io.confluent.connect.http.HttpSourceConnector": (
        "moldau.connect.connectors.web.source:HttpSource"
    ),
    "io.aiven.kafka.connect.http.HttpSinkConnector": (
        "moldau.connect.connectors.web.sink:HttpSink"
    ),
    "io.debezium.connector.mariadb.MariaDbConnector": (
        "moldau.connect.connectors.mariadb.source:MariaDbSource"
    ),
    "io.debezium.connector.mysql.MySqlConnector": (
        "moldau.connect.connectors.mariadb.source:MySqlSource"
    ),
    "io.debezium.connector.postgresql.PostgresConnector": (
        "moldau.connect.connectors.postgresql.source:PostgresSource"
    ),
    "io.confluent.connect.jdbc.JdbcSinkConnector": "moldau.connect.connectors.sql.sink:JdbcSink",
    "io.confluent.connect.jdbc.JdbcSourceConnector": (
        "moldau.connect.connectors.sql.source:JdbcSource"
    ),
    "moldau.connect.CsvSinkConnector": "moldau.connect.connectors.files.text_sinks:CsvSink",
    "moldau.connect.DeltaSinkConnector": "moldau.connect.connectors.lakes.sink:DeltaSink",
    "moldau.connect.IcebergSinkConnector": "moldau.connect.connectors.lakes.sink:IcebergSink",
    "moldau.connect.DirectorySourceConnector": (
        "moldau.connect.connectors.files.directory:DirectorySource"
    ),
    "moldau.connect.FileSourceConnector": "moldau.connect.connectors.files.source:FileSource",
    "moldau.connect.JsonSinkConnector": "moldau.connect.connectors.files.text_sinks:JsonLinesSink",
    "moldau.connect.ParquetSinkConnector": (
        "moldau.connect.connectors.files.parquet_sink:ParquetSink"
    ),
    "moldau.connect.SparkSinkConnector": "moldau.connect.connectors.spark_format:SparkSink",
    "moldau.connect.SparkSourceConnector": "moldau.connect.connectors.spark_format:SparkSource",
    "org.apache.kafka.connect.file.FileStreamSinkConnector": (
        "moldau.connect.connectors.file_stream:FileStreamSink"
    ),
    "org.apache.kafka.connect.file.FileStreamSourceConnector": (
        "moldau.connect.connectors.file_stream:FileStreamSource"
    ),
    "org.apache.kafka.connect.mirror.MirrorCheckpointConnector": (
        "moldau.connect.connectors.mirror.checkpoints:MirrorCheckpoints"
    ),
    "org.apache.kafka.connect.mirror.MirrorHeartbeatConnector": (
        "moldau.connect.connectors.mirror.heartbeats:MirrorHeartbeats"
    ),
    "org.apache.kafka.connect.mirror.MirrorSourceConnector": (
        "moldau.connect.connectors.mirror.source:MirrorSource"
    ),
}
_ALIASES = {"spark": "moldau.connect.SparkSinkConnector"}


@dataclass(frozen=True)
class Plugin:
    """A kind of connector."""

    name: str
    place: str
    """Module and class, which are imported when they are first needed."""

    @cached_property
    def connector(self) -> type[Source] | type[Sink]:
        """The class."""
        module, _, name = self.place.partition(":")
        try:
            found = getattr(import_module(module), name)
        except (ImportError, AttributeError) as error:
            raise ConfigError(f"{self.name} cannot be loaded: {error}") from error
        if not isinstance(found, type) or not issubclass(found, Source | Sink):
            raise ConfigError(f"{self.name}: {self.place} is neither a Source nor a Sink")
        return found

    @property
    def kind(self) -> str:
        """`source` or `sink`."""
        return SOURCE if issubclass(self.connector, Source) else SINK

    @property
    def task_class(self) -> str:
        """What Connect's settings of tasks name."""
        return self.name.removesuffix("Connector") + "Task"

    @property
    def settings(self) -> Sequence[PluginSetting]:
        """Its own."""
        return self.connector.settings or kafka_settings(self.name)

    @property
    def version(self) -> str:
        """Of Kafka's own, Kafka's."""
        return KAFKA_VERSION if self.name.startswith("org.apache.") else self.connector.version

    def answers_to(self, name: str) -> bool:
        """Whether a setting `connector.class` means this one."""
        short = self.name.rpartition(".")[2]
        named = _ALIASES.get(name, name)
        return named in (self.name, short, short.removesuffix("Connector"))


class Plugins:
    """All kinds of connectors, found by the names that users give them."""

    def __init__(self, added: Mapping[str, str] | None = None) -> None:
        places = {**_OWN, **_installed(), **(added or {})}
        self.connectors = [Plugin(name, place) for name, place in sorted(places.items())]

    def find(self, name: str) -> Plugin:
        """The plugin of a name, in full, without package, or without the word Connector."""
        for each in self.connectors:
            if each.answers_to(name):
                return each
        known = ", ".join(_described(each) for each in self.connectors)
        raise ConfigError(
            f"Failed to find any class that implements Connector and which name matches {name}, "
            f"available connectors are: {known}"
        )

    def listed(self, *, connectors_only: bool) -> list[dict[str, str]]:
        """As REST answers it: connectors, and if wanted all other kinds of plugins."""
        found = [
            {"class": each.name, "type": each.kind, "version": each.version}
            for each in sorted(self.connectors, key=lambda each: (each.kind, each.name))
        ]
        if not connectors_only:
            found += _others("transformation", TRANSFORMATIONS)
            found += _others("predicate", PREDICATES)
            found += _others("converter", CONVERTERS)
            found += _others("header_converter", HEADER_CONVERTERS)
        return found


def _others(kind: str, names: Iterable[str]) -> list[dict[str, str]]:
    return [{"class": name, "type": kind, "version": KAFKA_VERSION} for name in sorted(names)]


def _described(plugin: Plugin) -> str:
    return (
        f"PluginDesc{{klass=class {plugin.name}, name='{plugin.name}', "
        f"version='{plugin.version}', encodedVersion={plugin.version}, type={plugin.kind}, "
        f"typeName='{plugin.kind}', location='classpath'}}"
    )


def _installed() -> dict[str, str]:
    return {each.name: each.value for each in entry_points(group=_GROUP)}
