"""Workers of another group with the same topics: each group would run all connectors."""

import asyncio
import logging
import time

from moldau.client.admin.admin import Admin
from moldau.client.admin.groups import GroupListing
from moldau.connect.storage.cluster_state import ClusterState
from moldau.connect.worker.settings import WorkerSettings
from moldau.errors import KafkaError
from moldau.model import TopicPartition

_log = logging.getLogger(__name__)

_JAVAS, _CONSUMERS = "connect", "consumer"
"""Types of protocol: that of Java's workers, and that by which ours take turns."""
_ASK_S = 10.0
_KEY_LASTS_MS = 2 * 60 * 60 * 1000
"""Java's workers put a new key for their own use into the topic every hour."""


async def warn_of_other_groups(settings: WorkerSettings, state: ClusterState) -> None:
    """Say which, and what to do; a worker starts also where it must not ask."""
    try:
        async with asyncio.timeout(_ASK_S):
            found = await other_groups(settings, state)
    except (KafkaError, TimeoutError) as error:
        why = str(error) or f"no answer in {_ASK_S:g} s"
        topic = settings.config_topic
        _log.info("Failed to look for other groups that use the topic %s: %s", topic, why)
        return
    for group in found:
        _log.warning(
            "workers of the group %s use the topic %s, too, so each connector runs there and here, "
            "and its records come twice. Stop those workers and give this one their group.id, or "
            "give this one topics of its own: config.storage.topic, offset.storage.topic, "
            "status.storage.topic",
            group,
            settings.config_topic,
        )


async def other_groups(settings: WorkerSettings, state: ClusterState) -> list[str]:
    """Groups with members that have the config topic.

    Members of Java's groups do not name their topics. So one counts if the topic has a key that
    such workers made lately.
    """
    async with Admin(settings.client("admin.")) as admin:
        listed = [
            each
            for each in await admin.list_groups()
            if each.group_id != settings.group_id and each.state not in ("Empty", "Dead")
        ]
        is_javas = time.time() * 1000 - state.session_key_ms < _KEY_LASTS_MS
        found = _of_type(listed, _JAVAS) if is_javas else []
        described = await admin.describe_groups(_of_type(listed, _CONSUMERS))
        place = TopicPartition(settings.config_topic, 0)
        for group_id, group in described.succeeded.items():
            if any(place in each.assignment for each in group.members):
                found.append(group_id)
        return found


def _of_type(listed: list[GroupListing], protocol: str) -> list[str]:
    return [each.group_id for each in listed if each.protocol_type == protocol]
