"""One module per API: decode is done, authorise, call the domain, answer.

`handlers.produce` is loaded when it is first used: a broker starts without what nobody asks for.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moldau.broker.handlers import (  # noqa: F401  what an editor follows
        add_offsets_to_txn,
        add_partitions_to_txn,
        allocate_producer_ids,
        alter_client_quotas,
        alter_configs,
        alter_partition,
        alter_partition_reassignments,
        alter_replica_log_dirs,
        alter_user_scram_credentials,
        api_versions,
        consumer_group_describe,
        consumer_group_heartbeat,
        controlled_shutdown,
        create_acls,
        create_delegation_token,
        create_partitions,
        create_topics,
        delete_acls,
        delete_groups,
        delete_records,
        delete_topics,
        describe_acls,
        describe_client_quotas,
        describe_cluster,
        describe_configs,
        describe_delegation_token,
        describe_groups,
        describe_log_dirs,
        describe_producers,
        describe_topic_partitions,
        describe_transactions,
        describe_user_scram_credentials,
        elect_leaders,
        end_txn,
        expire_delegation_token,
        fetch,
        find_coordinator,
        heartbeat,
        incremental_alter_configs,
        init_producer_id,
        join_group,
        leader_and_isr,
        leave_group,
        list_groups,
        list_offsets,
        list_partition_reassignments,
        list_transactions,
        metadata,
        offset_commit,
        offset_delete,
        offset_fetch,
        offset_for_leader_epoch,
        produce,
        renew_delegation_token,
        sasl_authenticate,
        sasl_handshake,
        stop_replica,
        sync_group,
        txn_offset_commit,
        update_metadata,
        write_txn_markers,
    )
else:

    def __getattr__(name: str) -> object:
        from importlib import import_module  # noqa: PLC0415

        try:
            return import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from error
