"""Topics that come into being because a client asks for them."""

from collections.abc import Mapping

from moldau.broker.topics.internal import CONSUMER_OFFSETS, TRANSACTION_STATE, is_internal
from moldau.broker.topics.tree import Topics, check_name
from moldau.config.broker.broker import BrokerConfig
from moldau.errors import ErrorCode, KafkaError


class AutoCreation:
    """Creates topics with the broker's defaults, internal ones with their own settings."""

    def __init__(self, topics: Topics, config: BrokerConfig) -> None:
        self._topics = topics
        self._config = config

    async def create(
        self, name: str, *, is_allowed: bool = True, wait_s: float = 0.5, cause: str = ""
    ) -> None:
        """Create a topic that is not there, and give its leaders a moment to be elected.

        `cause` is for the log.
        """
        self.require_possible(name, is_allowed=is_allowed)
        partition_count, replication_factor = self._shape(name)
        replicas = self._topics.place(partition_count, replication_factor)
        overrides = internal_overrides(name, self._config)
        try:
            await self._topics.create(name, replicas, overrides, cause=cause)
        except KafkaError as error:
            if error.code != ErrorCode.TOPIC_ALREADY_EXISTS:
                raise
        await self._topics.until_led(name, partition_count, timeout_s=wait_s)

    def require_possible(self, name: str, *, is_allowed: bool) -> None:
        """Raise UNKNOWN_TOPIC_OR_PARTITION where topics are not created by asking for them."""
        check_name(name)
        is_enabled = self._config.general.auto_create_topics_enable or is_internal(name)
        if not is_allowed or not is_enabled:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic {name}")

    def partition_count(self, name: str) -> int:
        """How many partitions a topic would get."""
        return self._shape(name)[0]

    def _shape(self, name: str) -> tuple[int, int]:
        """How many partitions, and how many replicas of each."""
        if name == CONSUMER_OFFSETS:
            groups = self._config.groups
            return groups.offsets_topic_num_partitions, groups.offsets_topic_replication_factor
        if name == TRANSACTION_STATE:
            transactions = self._config.transactions
            return (
                transactions.transaction_state_log_num_partitions,
                transactions.transaction_state_log_replication_factor,
            )
        general = self._config.general
        return general.num_partitions, general.default_replication_factor


def internal_overrides(name: str, config: BrokerConfig) -> Mapping[str, str]:
    """The settings that an internal topic must have; none for any other topic."""
    if name == CONSUMER_OFFSETS:
        return {
            "cleanup.policy": "compact",
            "compression.type": "producer",
            "segment.bytes": str(config.groups.offsets_topic_segment_bytes),
        }
    if name == TRANSACTION_STATE:
        transactions = config.transactions
        return {
            "cleanup.policy": "compact",
            "compression.type": "uncompressed",
            "min.insync.replicas": str(transactions.transaction_state_log_min_isr),
            "segment.bytes": str(transactions.transaction_state_log_segment_bytes),
            "unclean.leader.election.enable": "false",
        }
    return {}
