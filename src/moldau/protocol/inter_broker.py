"""Which versions brokers of one cluster use among themselves.

They do not ask each other: `inter.broker.protocol.version` alone decides, so that brokers
of different releases, Apache Kafka's among them, can share a cluster.
"""

from functools import cache

from moldau.config.versions import is_at_least
from moldau.protocol.apis import API_BY_KEY
from moldau.protocol.declaration import facts_of
from moldau.protocol.messages.stop_replica import StopReplicaRequest, StopReplicaTopicV1

_GROUPED_STATES_SINCE = 3


# By API key, newest first: from which protocol on a version is used. Brokers older than the
# last entry are not spoken to at all.
_VERSIONS: dict[int, tuple[tuple[str, int], ...]] = {
    0: (("2.4-IV0", 8),),  # Produce, into the audit topic
    1: (  # Fetch
        ("3.9-IV0", 17),
        ("3.7-IV4", 16),
        ("3.5-IV1", 15),
        ("3.5-IV0", 14),
        ("3.1-IV0", 13),
        ("2.7-IV1", 12),
        ("2.4-IV0", 11),
    ),
    2: (  # ListOffsets
        ("3.5-IV0", 8),
        ("3.0-IV1", 7),
        ("2.8-IV1", 6),
        ("2.4-IV0", 5),
    ),
    4: (  # LeaderAndIsr
        ("3.4-IV0", 7),
        ("3.2-IV0", 6),
        ("2.8-IV1", 5),
        ("2.4-IV1", 4),
        ("2.4-IV0", 3),
    ),
    5: (  # StopReplica
        ("3.4-IV0", 4),
        ("2.6-IV0", 3),
        ("2.4-IV1", 2),
        ("2.4-IV0", 1),
    ),
    6: (  # UpdateMetadata
        ("3.4-IV0", 8),
        ("2.8-IV1", 7),
        ("2.4-IV1", 6),
        ("2.4-IV0", 5),
    ),
    7: (  # ControlledShutdown
        ("2.4-IV1", 3),
        ("2.4-IV0", 2),
    ),
    23: (  # OffsetForLeaderEpoch
        ("2.8-IV0", 4),
        ("2.4-IV0", 3),
    ),
    27: (  # WriteTxnMarkers
        ("2.8-IV0", 1),
        ("2.4-IV0", 0),
    ),
}
OLDEST = "2.4-IV0"
FEATURES_SINCE = "2.7-IV0"
"""From here on a broker's registration names its features."""
FEATURE_LEVELS_SINCE = "3.3-IV0"
"""From here on finalized features have one level, not a range of them."""
TOPIC_IDS_SINCE = "2.8-IV0"


def version_of(request: type, protocol: str) -> int:
    """The version in which brokers send a request; the newest where no rule says otherwise."""
    key = facts_of(request).api_key
    assert key is not None, "only requests are sent"
    return _version(key, protocol)


@cache
def _version(key: int, protocol: str) -> int:
    for since, version in _VERSIONS.get(key, ()):
        if is_at_least(protocol, since):
            return version
    return API_BY_KEY[key].versions.stop - 1


def in_version(request: object, version: int) -> object:
    """The request as that version can say it: the same, but for old layouts of StopReplica."""
    if not isinstance(request, StopReplicaRequest) or version >= _GROUPED_STATES_SINCE:
        return request
    states = [state for topic in request.topic_states for state in topic.partition_states]
    deletions = {state.delete_partition for state in states}
    assert len(deletions) == 1, "a request either deletes all of its replicas or none"
    return StopReplicaRequest(
        controller_id=request.controller_id,
        controller_epoch=request.controller_epoch,
        broker_epoch=request.broker_epoch,
        delete_partitions=deletions.pop(),
        topics=[
            StopReplicaTopicV1(
                name=topic.topic_name,
                partition_indexes=[state.partition_index for state in topic.partition_states],
            )
            for topic in request.topic_states
        ],
    )
