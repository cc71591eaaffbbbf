"""How topics of another cluster are named here, and which are never copied (KIP-382)."""

from collections.abc import Mapping
from dataclasses import dataclass

from moldau.connect.config.values import flag, required
from moldau.connect.errors import ConfigError

DEFAULT, IDENTITY = "DefaultReplicationPolicy", "IdentityReplicationPolicy"
HEARTBEATS = "heartbeats"
_PACKAGE = "org.apache.kafka.connect.mirror."
_CLASS, _SEPARATOR = "replication.policy.class", "replication.policy.separator"
_INTERNAL_SEPARATOR = "replication.policy.internal.topic.separator.enabled"


@dataclass(frozen=True, slots=True)
class ReplicationPolicy:
    """The names of one direction, from the source to the target."""

    source_alias: str
    target_alias: str
    separator: str = "."
    internal_separator: str = "."
    keeps_names: bool = False

    @classmethod
    def of(cls, config: Mapping[str, str]) -> "ReplicationPolicy":
        """As settings say."""
        name = config.get(_CLASS, DEFAULT).removeprefix(_PACKAGE)
        if name not in (DEFAULT, IDENTITY):
            raise ConfigError(f"{_CLASS}: {name} is neither {DEFAULT} nor {IDENTITY}")
        separator = config.get(_SEPARATOR, ".")
        if not separator:
            raise ConfigError(f"{_SEPARATOR}: it is empty")
        is_for_all = flag(config, _INTERNAL_SEPARATOR, default=True)
        return cls(
            required(config, "source.cluster.alias"),
            config.get("target.cluster.alias", "target"),
            separator,
            separator if is_for_all else ".",
            name == IDENTITY,
        )

    def remote_topic(self, topic: str) -> str:
        """The name here of a topic of the source."""
        if self.keeps_names and not self.is_heartbeats(topic):
            return topic
        return f"{self.source_alias}{self.separator}{topic}"

    def has_come_from_target(self, topic: str) -> bool:
        """Whether to copy a topic of the source would copy it in a circle.

        With kept names that cannot be seen.
        """
        if self.keeps_names and not self.is_heartbeats(topic):
            return False
        *aliases, _ = topic.split(self.separator)
        return self.target_alias in aliases

    def is_internal(self, topic: str) -> bool:
        """Whether a topic belongs to brokers, workers or mirrors."""
        separator = self.internal_separator
        ending = (".internal", "-internal", f"{separator}checkpoints{separator}internal")
        if topic.startswith(("__", ".")) or topic.endswith(ending):
            return True
        return topic.startswith("mm2") and topic.endswith(f"{separator}internal")

    def is_heartbeats(self, topic: str) -> bool:
        """Whether a topic has heartbeats, of the source or of what the source mirrors."""
        return topic == HEARTBEATS or topic.endswith(f"{self.separator}{HEARTBEATS}")

    def checkpoints_topic(self) -> str:
        """At the target."""
        separator = self.internal_separator
        return f"{self.source_alias}{separator}checkpoints{separator}internal"

    def offset_syncs_topic(self, *, is_at_source: bool) -> str:
        """It has the alias of the cluster that it is not in."""
        separator = self.internal_separator
        other = self.target_alias if is_at_source else self.source_alias
        return f"mm2-offset-syncs{separator}{other}{separator}internal"
