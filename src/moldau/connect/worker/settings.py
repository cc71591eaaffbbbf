"""Settings of a worker, by Kafka's names."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from moldau.connect.config.providers import ConfigProviders
from moldau.connect.config.values import below, flag, number
from moldau.connect.connector import HomeCluster
from moldau.connect.errors import ConfigError
from moldau.connect.worker.restarts import BACK_OFF_S, RESTARTS_MAX, RestartRule

_log = logging.getLogger(__name__)

DIRECT, SPARK = "direct", "spark"
"""Where tasks work: in threads of the worker, or in those of Spark."""
_PORT = 8083
_HTTPS, _KEYSTORE = "https", "ssl.keystore.location"
_SPARK_SHUTDOWN_MS = 60_000
_PREFIXES = ("producer.", "consumer.", "admin.")
_CLIENT = ("bootstrap.servers", "security.protocol", "sasl.", "ssl.", "client.dns.lookup")
# Accepted from files of Java's workers; they mean nothing where nothing is rebalanced.
_WITHOUT_MEANING = (
    "plugin.path",
    "plugin.discovery",
    "scheduled.rebalance.max.delay.ms",
    "connect.protocol",
    "inter.worker.",
    "offset.flush.timeout.ms",
    "rebalance.timeout.ms",
    "offset.storage.file.filename",
    "admin.listeners",
    "access.control.",
    "response.http.headers.config",
    "rest.extension.classes",
)


@dataclass(frozen=True, slots=True)
class StateTopic:
    """One of the three topics."""

    name: str
    partitions: int
    replication_factor: int | None


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """What a worker's properties say."""

    properties: Mapping[str, str] = field(repr=False)
    worker_id: str = field(default="", compare=False)
    providers: ConfigProviders = field(default_factory=ConfigProviders, compare=False)

    def resolved(self) -> "WorkerSettings":
        """The same with values of providers in them, and the providers for connectors."""
        providers = ConfigProviders(self.properties)
        properties = providers.resolved(self.properties)
        return replace(self, properties=properties, providers=providers)

    @property
    def group_id(self) -> str:
        """Workers of one group share their connectors: one runs them, others stand by."""
        return self.properties.get("group.id", "connect-cluster")

    @property
    def config_topic(self) -> str:
        """Where settings are kept."""
        return self.properties.get("config.storage.topic", "connect-configs")

    @property
    def offset_topic(self) -> str:
        """Where offsets of sources are kept."""
        return self.properties.get("offset.storage.topic", "connect-offsets")

    @property
    def status_topic(self) -> str:
        """Where states are kept."""
        return self.properties.get("status.storage.topic", "connect-status")

    def topics(self) -> Iterable[StateTopic]:
        """The three, as they are to be made."""
        for role, name, default in (
            ("config", self.config_topic, 1),
            ("offset", self.offset_topic, 25),
            ("status", self.status_topic, 5),
        ):
            partitions = 1
            if role != "config":
                partitions = number(self.properties, f"{role}.storage.partitions", default)
            factor = number(self.properties, f"{role}.storage.replication.factor", 0)
            yield StateTopic(name, partitions, factor or None)

    @property
    def host(self) -> str:
        """Where to listen; this machine alone unless another address is named."""
        listener = self._listener()
        return listener.hostname or "localhost"

    @property
    def port(self) -> int:
        """Where to listen."""
        found = self._listener().port
        return _PORT if found is None else found

    @property
    def certificate(self) -> str | None:
        """A file in PEM with certificate and key, if the listener speaks TLS."""
        if self._listener().scheme != _HTTPS:
            return None
        names = (f"listeners.{_HTTPS}.{_KEYSTORE}", _KEYSTORE)
        found = next((self.properties[name] for name in names if name in self.properties), None)
        if found is None:
            raise ConfigError(f"listeners: https needs {names[0]}, a certificate with its key")
        return found

    @property
    def users_file(self) -> str | None:
        """Who may use REST."""
        return self.properties.get("rest.users.file")

    def _listener(self) -> "_Address":
        text = self.properties.get("listeners", f"http://localhost:{_PORT}").split(",")[0].strip()
        try:
            parts = urlsplit(text.lower())
            found = _Address(parts.scheme, parts.hostname, parts.port)
        except ValueError as error:
            raise ConfigError(f"listeners: {text}: {error}") from error
        if found.scheme not in ("http", _HTTPS):
            raise ConfigError(f"listeners: {text}: it begins with http:// or https://")
        return found

    @property
    def engine(self) -> str:
        """Where tasks work unless a connector says otherwise."""
        return engine_of(self.properties, DIRECT)

    @property
    def spark_settings(self) -> dict[str, str]:
        """What goes to Spark as it is, `spark.master` as well."""
        return {k: text for k, text in self.properties.items() if k.startswith("spark.")}

    @property
    def tracks_topics(self) -> bool:
        """Whether topics of connectors are remembered."""
        return flag(self.properties, "topic.tracking.enable", default=True)

    @property
    def shutdown_s(self) -> float:
        """How long tasks get to stop; Spark's, unless it is said, as long as a batch may take."""
        default = _SPARK_SHUTDOWN_MS if self.engine == SPARK else 5000
        return number(self.properties, "task.shutdown.graceful.timeout.ms", default) / 1000

    def restarts(self, connector: Mapping[str, str]) -> RestartRule:
        """How often what has failed is begun anew; a connector may have its own limit."""
        default = number(self.properties, RESTARTS_MAX, len(BACK_OFF_S))
        return RestartRule(number(connector, RESTARTS_MAX, default))

    def client(self, prefix: str, connector: Mapping[str, str] | None = None) -> dict[str, object]:
        """Settings of a client: the worker's, those with the prefix, then the connector's own."""
        shared = {
            name: text
            for name, text in self.properties.items()
            if name.startswith(_CLIENT) and not name.startswith(_PREFIXES)
        }
        own = below(self.properties, prefix)
        overridden = below(connector or {}, f"{prefix}override.")
        found: dict[str, object] = {**shared, **own, **overridden}
        found.setdefault("bootstrap.servers", "localhost:9092")
        return found

    def home(self, connector: Mapping[str, str]) -> HomeCluster:
        """Where a source's records go; its own producer may go to another cluster."""
        client = self.client("admin.", connector)
        servers = connector.get("producer.override.bootstrap.servers")
        if servers is not None:
            client["bootstrap.servers"] = servers
        own = (self.config_topic, self.offset_topic, self.status_topic)
        named = connector.get("offsets.storage.topic")
        return HomeCluster(client, frozenset(own if named is None else (*own, named)))

    def log_ignored(self) -> None:
        """Say which settings have no effect here."""
        for name in sorted(self.properties):
            if name.startswith(_WITHOUT_MEANING):
                _log.info("%s has no effect here, see docs/connect.md", name)


def engine_of(settings: Mapping[str, str], default: str) -> str:
    """What a setting `engine` says; a connector may keep to the worker, and not leave it."""
    found = settings.get("engine", default).strip().lower()
    if found not in (DIRECT, SPARK):
        raise ConfigError(f"engine: {found} is neither {DIRECT} nor {SPARK}")
    return found


@dataclass(frozen=True, slots=True)
class _Address:
    scheme: str
    hostname: str | None
    port: int | None
