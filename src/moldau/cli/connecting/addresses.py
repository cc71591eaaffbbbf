"""Addresses of `moldau ingest`: what is copied, and where to, as settings of connectors."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode, urlsplit

from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.web_address import warn_of_password

_KAFKA = "kafka"
_TABLES = ("postgresql", "postgres", "mariadb", "mysql", "sqlite", "duckdb")
_MYSQL = ("mariadb", "mysql")
_PASSWORDS_ELSEWHERE = {
    **dict.fromkeys(("postgresql", "postgres"), "PGPASSWORD or ~/.pgpass"),
    **dict.fromkeys(_MYSQL, "MYSQL_PWD"),
}
_FILES = ("parquet", "csv", "jsonl")
_LAKE = "delta"
_DIRECTORIES = {
    "csv": "moldau.connect.CsvSinkConnector",
    "jsonl": "moldau.connect.JsonSinkConnector",
    "parquet": "moldau.connect.ParquetSinkConnector",
    _LAKE: "moldau.connect.DeltaSinkConnector",
}
_FORMS = (
    "kafka://HOST:PORT/TOPIC, postgresql://HOST/DATABASE?table=T, mariadb://HOST/DATABASE?table=T, "
    "mysql://HOST/DATABASE?table=T, sqlite:FILE?table=T, duckdb:FILE?table=T, "
    "parquet:FILE, csv:FILE, jsonl:FILE, or a directory of such files; as a target "
    "parquet:DIRECTORY, csv:DIRECTORY, jsonl:DIRECTORY, delta:DIRECTORY"
)


@dataclass(frozen=True, slots=True)
class CopyAddress:
    """One end of a copy."""

    scheme: str
    place: str
    """The address without what was asked of it."""
    options: Mapping[str, str] = field(repr=False)
    topic: str = ""
    servers: str = ""

    @property
    def identity(self) -> str:
        """What it is, without a password."""
        parts = urlsplit(self.place)
        shown = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
        return f"{shown}?{urlencode(sorted(self.options.items()))}"


def parse_address(text: str) -> CopyAddress:
    """An address; CommandFailed says which forms there are."""
    parts = urlsplit(text)
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    place = parts._replace(query="").geturl()
    if parts.scheme == _KAFKA:
        topic = parts.path.strip("/")
        if not parts.netloc or not topic or "/" in topic:
            raise CommandFailed(f"{_shown(text)}: a topic is kafka://HOST:PORT/TOPIC")
        if "@" in parts.netloc:
            raise CommandFailed(
                "kafka://: names and passwords stand in a file: --command-config FILE"
            )
        return CopyAddress(_KAFKA, place, options, topic, parts.netloc)
    if parts.scheme in _TABLES:
        if not options.get("table"):
            raise CommandFailed(f"{_shown(text)}: which table? add ?table=NAME")
        return CopyAddress(parts.scheme, place, options)
    if parts.scheme in (*_FILES, _LAKE):
        path = text.partition(":")[2].partition("?")[0].removeprefix("//")
        if not path:
            raise CommandFailed(f"{text}: a path is missing")
        return CopyAddress(parts.scheme, os.path.abspath(path), options)
    raise CommandFailed(f"{_shown(text)}: no address is of this kind; there is: {_FORMS}")


def _shown(text: str) -> str:
    scheme, found, rest = text.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}" if found else text.partition("?")[0]


def warn_if_visible(text: str) -> None:
    """Warn of a password in the address of a database."""
    parts = urlsplit(text)
    if parts.scheme in _PASSWORDS_ELSEWHERE and (
        parts.password or "password" in dict(parse_qsl(parts.query))
    ):
        warn_of_password("the address", _PASSWORDS_ELSEWHERE[parts.scheme])


def source_settings(address: CopyAddress, topic: str) -> dict[str, str]:
    """A source connector that reads an address into a topic."""
    if address.scheme in _FILES and os.path.isdir(address.place):
        return {
            "connector.class": "moldau.connect.DirectorySourceConnector",
            "directory": address.place,
            "format": address.scheme,
            "topic": topic,
        }
    if address.scheme in _FILES:
        return {
            "connector.class": "moldau.connect.FileSourceConnector",
            "file": address.place,
            "format": address.scheme,
            "topic": topic,
        }
    if address.scheme not in _TABLES:
        raise CommandFailed(f"{address.scheme}: cannot be read from; there is: {_FORMS}")
    rest = dict(address.options)
    found = {
        "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
        "table.whitelist": rest.pop("table"),
        "topic.prefix": "-",
        "batch.max.rows": "10000",
        "incrementing.column.name": rest.pop("incrementing", ""),
        "timestamp.column.name": rest.pop("timestamp", ""),
        "transforms": "topic",
        "transforms.topic.type": "org.apache.kafka.connect.transforms.RegexRouter",
        "transforms.topic.regex": ".*",
        "transforms.topic.replacement": topic,
    }
    mode = rest.pop("mode", "")
    if not mode:
        named = ("timestamp", "incrementing")
        mode = "+".join(each for each in named if found[f"{each}.column.name"])
    return {**found, "mode": mode, **_connection(address, rest)}


def mirror_settings(source: CopyAddress, target: CopyAddress) -> dict[str, str]:
    """A source connector that copies a topic of another cluster under its name."""
    prefix, is_prefixed, _ = target.topic.rpartition(f".{source.topic}")
    keeps_name = source.topic == target.topic
    if not keeps_name and not (is_prefixed and prefix and "." not in prefix):
        raise CommandFailed(
            f"a topic is copied under its name, or with a prefix: kafka://{target.servers}/"
            f"{source.topic} or kafka://{target.servers}/PREFIX.{source.topic}"
        )
    policy = "Identity" if keeps_name else "Default"
    return {
        "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",
        "source.cluster.alias": prefix or "source",
        "source.cluster.bootstrap.servers": source.servers,
        "replication.policy.class": f"{policy}ReplicationPolicy",
        "topics": re.escape(source.topic),
        "topics.exclude": "",
        "replication.factor": "3",
        "emit.offset-syncs.enabled": "false",
    }


def sink_settings(address: CopyAddress, topic: str) -> dict[str, str]:
    """A sink connector that writes a topic to an address."""
    shared = {"topics": topic, "consumer.override.max.poll.records": "10000"}
    if address.scheme in _DIRECTORIES:
        sink = _DIRECTORIES[address.scheme]
        return {**shared, "connector.class": sink, "directory": address.place}
    rest = dict(address.options)
    found = {
        **shared,
        "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
        "table.name.format": rest.pop("table"),
        "auto.create": "true",
        "auto.evolve": "true",
    }
    key = rest.pop("key", "")
    if key:
        found |= {"insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": key}
    return {**found, **_connection(address, rest)}


def _connection(address: CopyAddress, options: Mapping[str, str]) -> dict[str, str]:
    """With what is left of the options, which are the database's own."""
    place = f"{address.place}?{urlencode(options)}" if options else address.place
    found = {"connection.url": place}
    # PostgreSQL's library looks for its password by itself.
    password = os.environ.get("MYSQL_PWD")
    if password and address.scheme in _MYSQL and not urlsplit(place).password:
        found["connection.password"] = password
    return found
