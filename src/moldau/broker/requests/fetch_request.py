"""A Fetch request as it was parsed, by the message codec or by the faster one."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from moldau.broker.context import Client

CONSUMER = -1
NO_SESSION = 0
INITIAL_EPOCH = 0
FINAL_EPOCH = -1
READ_COMMITTED = 1
TOPIC_IDS_SINCE = 13


class PartitionKey(NamedTuple):
    """A partition as the client names it: by topic name, or by topic id from Fetch v13 on."""

    topic: str | bytes
    partition: int


class Wanted(NamedTuple):
    """What a client wants of one partition, in the order of the wire."""

    current_leader_epoch: int
    fetch_offset: int
    last_fetched_epoch: int
    log_start_offset: int
    max_bytes: int


class ParsedFetch(NamedTuple):
    """What the request says, and its sender."""

    client: Client
    client_id: str
    version: int
    replica_id: int
    """The follower that asks; CONSUMER, or less for one that debugs."""
    max_wait_ms: int
    min_bytes: int
    max_bytes: int
    isolation_level: int
    session_id: int
    session_epoch: int
    wanted: Mapping[PartitionKey, Wanted]
    forgotten: Iterable[PartitionKey] = ()
    rack_id: str = ""

    @property
    def api_name(self) -> str:
        """For the audit log."""
        return "Fetch"

    @property
    def is_follower(self) -> bool:
        return self.replica_id >= 0

    @property
    def uses_topic_ids(self) -> bool:
        return self.version >= TOPIC_IDS_SINCE
