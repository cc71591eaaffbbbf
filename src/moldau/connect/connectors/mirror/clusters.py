"""Settings of the clients for both clusters, out of a connector's settings.

`source.cluster.*` is for all clients of the source; `consumer.*`, `admin.*` and `producer.*` are
for those of the kind, and `source.consumer.*` and so on for those alone. The target is the
worker's cluster, unless `target.cluster.*` says more of it.
"""

from collections.abc import Mapping
from dataclasses import fields

from moldau.client.settings import ClientSettings, dotted
from moldau.connect.config.values import below
from moldau.connect.errors import ConfigError

_SERVERS = "bootstrap.servers"
_SHARED = frozenset(dotted(each.name) for each in fields(ClientSettings))
_FOR_ALL = ("sasl.", "ssl.")
_NO_CLIENTS = ("override.", "poll.timeout.ms")
PREFIXES = (
    *("source.cluster.", "source.consumer.", "source.admin.", "source.producer."),
    *("source.bootstrap.", "target.cluster.", "target.admin.", "target.producer."),
    *("consumer.", "admin.", "producer."),
)
Client = dict[str, object]


def source_consumer(config: Mapping[str, str]) -> Client:
    """Reads topics of the source; what has been taken back is not copied."""
    cluster = _source(config)
    return {
        "isolation.level": "read_committed",
        **cluster,
        **_own(config, "consumer"),
        # Where to go on is the mirror's own matter: it says so when records are missing.
        "auto.offset.reset": "none",
        "enable.auto.commit": False,
        "allow.auto.create.topics": "false",
    }


def sync_consumer(config: Mapping[str, str]) -> Client:
    """Reads a topic of the source's that has to do with mirroring."""
    return {**source_consumer(config), "auto.offset.reset": "earliest"}


def source_admin(config: Mapping[str, str]) -> Client:
    """Asks the source for topics, settings and groups."""
    return {**_shared(_source(config)), **_own(config, "admin")}


def source_producer(config: Mapping[str, str]) -> Client:
    """Writes to the source what other mirrors look for there."""
    return {**_shared(_source(config)), **_own(config, "producer")}


def target_admin(config: Mapping[str, str], home: Mapping[str, object]) -> Client:
    """Makes and changes topics and groups of the target."""
    cluster = _shared(_without_alias(below(config, "target.cluster.")))
    return {**home, **cluster, **below(config, "target.admin.")}


def target_consumer(config: Mapping[str, str], home: Mapping[str, object]) -> Client:
    """Reads a topic of the target's that has to do with mirroring."""
    cluster = _shared(_without_alias(below(config, "target.cluster.")))
    return {
        **home,
        **cluster,
        "isolation.level": "read_committed",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "allow.auto.create.topics": "false",
    }


def first_offset(config: Mapping[str, str]) -> str:
    """Where a partition begins that was never read: `earliest` or `latest`."""
    name = "auto.offset.reset"
    found = {**below(config, "source.cluster."), **_own(config, "consumer")}.get(name, "earliest")
    if found not in ("earliest", "latest"):
        raise ConfigError(f"consumer.{name}: {found} is neither earliest nor latest")
    return str(found)


def _source(config: Mapping[str, str]) -> Client:
    found = _without_alias(below(config, "source.cluster."))
    if _SERVERS not in found and f"source.{_SERVERS}" in config:
        found[_SERVERS] = config[f"source.{_SERVERS}"]
    if not found.get(_SERVERS):
        name = f"source.cluster.{_SERVERS}"
        raise ConfigError(f'Missing required configuration "{name}" which has no default value.')
    return found


def _without_alias(found: Mapping[str, str]) -> Client:
    return {name: text for name, text in found.items() if name != "alias"}


def _shared(cluster: Client) -> Client:
    """What every kind of client has; the rest is for consumers."""
    return {
        name: value
        for name, value in cluster.items()
        if name in _SHARED or name.startswith(_FOR_ALL)
    }


def _own(config: Mapping[str, str], kind: str) -> Client:
    found = {**below(config, f"{kind}."), **below(config, f"source.{kind}.")}
    return {name: text for name, text in found.items() if not name.startswith(_NO_CLIENTS)}
