"""All settings of one broker."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import cast

from moldau.config.broker.cleaner import CleanerConfig
from moldau.config.broker.general import GeneralConfig
from moldau.config.broker.groups import GroupConfig
from moldau.config.broker.kraft import KraftConfig
from moldau.config.broker.limits import LimitConfig
from moldau.config.broker.log import LogConfig
from moldau.config.broker.metrics import MetricsConfig
from moldau.config.broker.network import NetworkConfig
from moldau.config.broker.quotas import QuotaConfig
from moldau.config.broker.remote import RemoteStorageConfig
from moldau.config.broker.replication import ReplicationConfig
from moldau.config.broker.sasl import SaslConfig
from moldau.config.broker.security import SecurityConfig
from moldau.config.broker.share import ShareGroupConfig
from moldau.config.broker.tls import TlsConfig
from moldau.config.broker.transactions import TransactionConfig
from moldau.config.broker.zookeeper import ZooKeeperConfig
from moldau.config.definition import Area, Setting, read, settings_of
from moldau.config.rules import Value

STANDALONE_DEFAULTS: Mapping[str, str] = {
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
    "group.coordinator.rebalance.protocols": "classic,consumer",
    "group.consumer.migration.policy": "bidirectional",
}
"""Defaults of a broker without ZooKeeper, which is always alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerConfig:
    """Every broker setting, by area."""

    general: GeneralConfig
    network: NetworkConfig
    limits: LimitConfig
    log: LogConfig
    cleaner: CleanerConfig
    replication: ReplicationConfig
    groups: GroupConfig
    share: ShareGroupConfig
    transactions: TransactionConfig
    zookeeper: ZooKeeperConfig
    security: SecurityConfig
    tls: TlsConfig
    sasl: SaslConfig
    quotas: QuotaConfig
    metrics: MetricsConfig
    remote: RemoteStorageConfig
    kraft: KraftConfig

    @property
    def is_standalone(self) -> bool:
        """Whether the embedded store takes ZooKeeper's place."""
        return not self.zookeeper.zookeeper_connect

    @property
    def log_dirs(self) -> tuple[str, ...]:
        """`log.dirs`, or `log.dir`: the directories for logs, each once, in order."""
        text = self.log.log_dir if self.log.log_dirs is None else self.log.log_dirs
        return tuple(dict.fromkeys(filter(None, map(str.strip, text.split(",")))))

    def value(self, name: str) -> Value:
        """The value of the setting with that Kafka name."""
        setting = broker_settings()[name]
        found: Value = getattr(getattr(self, _area_of_setting()[name]), setting.attribute)
        return found


def read_broker_config(texts: Mapping[str, str]) -> BrokerConfig:
    """The settings that `texts` gives; InvalidConfig for a value that its setting refuses.

    What several settings must fulfil together is checked by `moldau.config.broker.checks`.
    Unknown names are left out: `moldau.config.broker.advice` warns about them.
    """
    completed = {**standalone_defaults(texts), **with_both_ids(texts)}
    areas = {name: read(area, completed) for name, area in broker_areas().items()}
    # Each area is of the class that its field declares: broker_areas() reads them from there.
    return BrokerConfig(**areas)  # type: ignore[arg-type]


def standalone_defaults(texts: Mapping[str, str]) -> Mapping[str, str]:
    """The defaults that differ from Kafka's for a broker with these settings."""
    return {} if texts.get("zookeeper.connect", "").strip() else STANDALONE_DEFAULTS


@cache
def broker_areas() -> Mapping[str, type[Area]]:
    """The dataclass of every area, by the name of its field."""
    return {field.name: cast("type[Area]", field.type) for field in fields(BrokerConfig)}


@cache
def broker_settings() -> Mapping[str, Setting]:
    """Every broker setting, by its Kafka name."""
    return {
        name: setting
        for area in broker_areas().values()
        for name, setting in settings_of(area).items()
    }


def with_both_ids(texts: Mapping[str, str]) -> Mapping[str, str]:
    """`broker.id` and `node.id` are one setting: the one that is given counts for both."""
    for given, other in (("broker.id", "node.id"), ("node.id", "broker.id")):
        if given in texts and other not in texts:
            return {**texts, other: texts[given]}
    return texts


@cache
def _area_of_setting() -> Mapping[str, str]:
    return {name: field for field, area in broker_areas().items() for name in settings_of(area)}
