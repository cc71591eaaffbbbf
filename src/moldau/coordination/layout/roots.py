"""The nodes that every cluster has from its first start."""

PERSISTENT_PATHS = (
    "/consumers",
    "/brokers/ids",
    "/brokers/topics",
    "/config/changes",
    "/admin/delete_topics",
    "/brokers/seqid",
    "/isr_change_notification",
    "/latest_producer_id_block",
    "/log_dir_event_notification",
    "/config/topics",
    "/config/clients",
    "/config/users",
    "/config/brokers",
    "/config/ips",
)

SENSITIVE_ROOTS = ("/config/users", "/config/brokers", "/delegation_token/tokens")
"""Nodes with secrets: with ZooKeeper's ACLs on, only brokers may read them."""


def with_parents(paths: tuple[str, ...]) -> list[str]:
    """The paths and those above them, in an order in which they can be created."""
    found: dict[str, None] = {}
    for path in paths:
        parts = path.split("/")
        for end in range(2, len(parts) + 1):
            found["/".join(parts[:end])] = None
    return list(found)
