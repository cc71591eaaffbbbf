"""Settings of transactions."""

from moldau.config.definition import Area, Importance, UpdateMode, boolean, integer, short
from moldau.config.rules import at_least


class TransactionConfig(Area):
    """What the transaction coordinator allows and how it stores its state."""

    transaction_max_timeout_ms: int = integer(
        900_000,
        "Longest transaction that a producer may ask for.",
        at_least(1),
        importance=Importance.HIGH,
    )
    transactional_id_expiration_ms: int = integer(
        604_800_000,
        "Time after which an idle transactional id is forgotten.",
        at_least(1),
        importance=Importance.HIGH,
    )
    transaction_state_log_num_partitions: int = integer(
        50,
        "Partitions of `__transaction_state`; do not change it later.",
        at_least(1),
        importance=Importance.HIGH,
    )
    transaction_state_log_replication_factor: int = short(
        3,
        "Replicas of `__transaction_state`; on the embedded store the default is 1.",
        at_least(1),
        importance=Importance.HIGH,
    )
    transaction_state_log_min_isr: int = integer(
        2,
        "`min.insync.replicas` of `__transaction_state`; on the embedded store the default is 1.",
        at_least(1),
        importance=Importance.HIGH,
    )
    transaction_state_log_segment_bytes: int = integer(
        104_857_600,
        "Segment size of `__transaction_state`.",
        at_least(1),
        importance=Importance.HIGH,
    )
    transaction_state_log_load_buffer_size: int = integer(
        5_242_880,
        "Bytes read at once when a coordinator loads its transactions.",
        at_least(1),
        importance=Importance.HIGH,
    )
    transaction_abort_timed_out_transaction_cleanup_interval_ms: int = integer(
        10_000,
        "Time until the next try where an overdue transaction could not be aborted at once.",
        at_least(1),
        importance=Importance.LOW,
    )
    transaction_remove_expired_transaction_cleanup_interval_ms: int = integer(
        3_600_000,
        "Time between two looks for expired transactional ids.",
        at_least(1),
        importance=Importance.LOW,
    )
    transaction_partition_verification_enable: bool = boolean(
        True,
        "Whether a leader checks that a partition was added to the transaction that writes "
        "to it (KIP-890).",
        importance=Importance.LOW,
        update=UpdateMode.CLUSTER_WIDE,
    )
