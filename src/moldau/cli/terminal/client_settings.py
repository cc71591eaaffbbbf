"""Settings of clients from the command line and from files as Java's clients read them."""

from collections.abc import Iterable, Mapping
from dataclasses import fields

from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.login_file import login_from_file
from moldau.cli.terminal.options import warn
from moldau.client.settings import ClientSettings, ProducerSettings, dotted
from moldau.config.properties import decode_properties

# Classes that do what is done here anyway: bytes are left as they are, as Apache's tools leave
# them whichever serializers are set.
_SERIALIZATION = "org.apache.kafka.common.serialization."
_BYTES = ("String", "ByteArray", "Bytes", "ByteBuffer")
_PARTITIONERS = "org.apache.kafka.clients.producer."
_CLASSES = {
    "key.serializer": tuple(f"{_SERIALIZATION}{name}Serializer" for name in _BYTES),
    "value.serializer": tuple(f"{_SERIALIZATION}{name}Serializer" for name in _BYTES),
    "key.deserializer": tuple(f"{_SERIALIZATION}{name}Deserializer" for name in _BYTES),
    "value.deserializer": tuple(f"{_SERIALIZATION}{name}Deserializer" for name in _BYTES),
    "interceptor.classes": (),
}
_PARTITIONER = "partitioner.class"
_USUAL_PARTITIONERS = (
    f"{_PARTITIONERS}internals.DefaultPartitioner",
    f"{_PARTITIONERS}UniformStickyPartitioner",
)
_ROUND_ROBIN = f"{_PARTITIONERS}RoundRobinPartitioner"
# What Java's clients need to know about Java.
_JAVA_ONLY = (
    "metric.reporters",
    "metrics.",
    "enable.metrics.push",
    "auto.include.jmx.reporter",
    "receive.buffer.bytes",
    "send.buffer.bytes",
    "reconnect.backoff",
    "retry.backoff.max.ms",
    "connections.max.idle.ms",
    "client.dns.lookup",
    "socket.connection.setup.timeout.max.ms",
    "default.api.timeout.ms",
    "zookeeper.",
)

READS_ONLY = {"allow.auto.create.topics": "false"}
"""What commands that read are given at first: a wrong name shall not become a topic."""


def read_file(path: str) -> dict[str, str]:
    """The settings in a file; none without a path."""
    if not path:
        return {}
    try:
        with open(path, "rb") as file:
            return decode_properties(file.read())
    except OSError as error:
        raise CommandFailed(f"{path}: {error.strerror}") from error


def read_pairs(pairs: Iterable[str]) -> dict[str, str]:
    """The settings in `key=value` arguments."""
    found: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise CommandFailed(f"Invalid command line properties: {pair}")
        found[key] = value
    return found


def usable(
    kind: type[ClientSettings] | tuple[type[ClientSettings], ...], settings: Mapping[str, str]
) -> dict[str, object]:
    """Those settings that our clients have; what is Java's alone is dropped, the rest named."""
    kinds = kind if isinstance(kind, tuple) else (kind,)
    known = {dotted(field.name) for each in kinds for field in fields(each)}
    kept: dict[str, object] = {}
    for name, value in {**settings, **login_from_file(settings)}.items():
        if name in _CLASSES:
            if value and value not in _CLASSES[name]:
                warn(f"WARN {name}: there is no {value} here, so it is not used.")
        elif name == _PARTITIONER and kind is ProducerSettings:
            kept |= _partitioner(value)
        elif name in known:
            kept[name] = _plain(name, value)
        elif not name.startswith(_JAVA_ONLY):
            warn(f"WARN The configuration '{name}' was supplied but isn't a known config.")
    return kept


def _partitioner(name: str) -> dict[str, object]:
    """The setting, if a partitioner is not the usual one; ends the command if there is none.

    Records would be in other partitions than expected.
    """
    if not name or name in _USUAL_PARTITIONERS:
        return {}
    if name == _ROUND_ROBIN:
        return {_PARTITIONER: name}
    raise CommandFailed(
        f"Invalid value {name} for configuration {_PARTITIONER}: Class {name} could not be found."
    )


_ASSIGNORS = {
    "RangeAssignor": "range",
    "RoundRobinAssignor": "roundrobin",
    "StickyAssignor": "sticky",
    "CooperativeStickyAssignor": "cooperative-sticky",
}


def _plain(name: str, value: str) -> str:
    """Java class names mean what ours are called."""
    if name == "partition.assignment.strategy":
        first = value.split(",", maxsplit=1)[0].strip().rpartition(".")[2]
        return _ASSIGNORS.get(first, value)
    return value
