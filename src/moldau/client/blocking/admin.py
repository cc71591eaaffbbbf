"""The admin client for code that blocks."""

from collections.abc import Mapping
from typing import Unpack

from moldau.client.admin import admin
from moldau.client.blocking.client import BlockingClient
from moldau.client.blocking.mirror import Mirrored
from moldau.client.metrics import Listener, Metrics
from moldau.client.options import AdminOptions


class Admin(BlockingClient[admin.Admin]):
    """`moldau.Admin` for code that blocks.

    with Admin(bootstrap_servers="localhost:9092") as admin:
        admin.create_topics([NewTopic("orders", partitions=6)]).check()
    """

    def __init__(
        self,
        settings: Mapping[str, object] | None = None,
        *,
        on_metrics: Listener | None = None,
        **options: Unpack[AdminOptions],
    ) -> None:
        super().__init__(admin.Admin(settings, on_metrics=on_metrics, **options), "moldau-admin")

    def metrics(self) -> Metrics:
        """What was asked so far, by Kafka's names."""
        return self.thread.call_function(self.client.metrics)

    # Topics

    create_topics = Mirrored(admin.Admin.create_topics)
    delete_topics = Mirrored(admin.Admin.delete_topics)
    create_partitions = Mirrored(admin.Admin.create_partitions)
    list_topics = Mirrored(admin.Admin.list_topics)
    describe_topics = Mirrored(admin.Admin.describe_topics)
    describe_all_topics = Mirrored(admin.Admin.describe_all_topics)

    # Settings

    describe_configs = Mirrored(admin.Admin.describe_configs)
    incremental_alter_configs = Mirrored(admin.Admin.incremental_alter_configs)
    alter_configs = Mirrored(admin.Admin.alter_configs)

    # Groups

    list_groups = Mirrored(admin.Admin.list_groups)
    list_groups_by_broker = Mirrored(admin.Admin.list_groups_by_broker)
    describe_groups = Mirrored(admin.Admin.describe_groups)
    delete_groups = Mirrored(admin.Admin.delete_groups)
    remove_group_members = Mirrored(admin.Admin.remove_group_members)

    # Offsets of groups

    list_group_offsets = Mirrored(admin.Admin.list_group_offsets)
    alter_group_offsets = Mirrored(admin.Admin.alter_group_offsets)
    delete_group_offsets = Mirrored(admin.Admin.delete_group_offsets)

    # Logs

    list_offsets = Mirrored(admin.Admin.list_offsets)
    delete_records = Mirrored(admin.Admin.delete_records)

    # Directories

    describe_log_dirs = Mirrored(admin.Admin.describe_log_dirs)
    alter_replica_log_dirs = Mirrored(admin.Admin.alter_replica_log_dirs)

    # Replicas

    alter_partition_reassignments = Mirrored(admin.Admin.alter_partition_reassignments)
    list_partition_reassignments = Mirrored(admin.Admin.list_partition_reassignments)
    elect_leaders = Mirrored(admin.Admin.elect_leaders)

    # The cluster

    describe_cluster = Mirrored(admin.Admin.describe_cluster)
    describe_api_versions = Mirrored(admin.Admin.describe_api_versions)
    describe_features = Mirrored(admin.Admin.describe_features)
    update_features = Mirrored(admin.Admin.update_features)

    # Transactions

    list_transactions = Mirrored(admin.Admin.list_transactions)
    list_transactions_by_broker = Mirrored(admin.Admin.list_transactions_by_broker)
    describe_transactions = Mirrored(admin.Admin.describe_transactions)
    describe_producers = Mirrored(admin.Admin.describe_producers)
    abort_transaction = Mirrored(admin.Admin.abort_transaction)
    fence_producers = Mirrored(admin.Admin.fence_producers)

    # Access rules

    describe_acls = Mirrored(admin.Admin.describe_acls)
    create_acls = Mirrored(admin.Admin.create_acls)
    delete_acls = Mirrored(admin.Admin.delete_acls)

    # Quotas

    describe_client_quotas = Mirrored(admin.Admin.describe_client_quotas)
    alter_client_quotas = Mirrored(admin.Admin.alter_client_quotas)

    # Users

    describe_user_scram_credentials = Mirrored(admin.Admin.describe_user_scram_credentials)
    alter_user_scram_credentials = Mirrored(admin.Admin.alter_user_scram_credentials)

    # Delegation tokens

    create_delegation_token = Mirrored(admin.Admin.create_delegation_token)
    renew_delegation_token = Mirrored(admin.Admin.renew_delegation_token)
    expire_delegation_token = Mirrored(admin.Admin.expire_delegation_token)
    describe_delegation_tokens = Mirrored(admin.Admin.describe_delegation_tokens)
