"""The broker as its handlers see it: every part by name, no behaviour of its own."""

from dataclasses import dataclass, field

from moldau.broker.access.audit_topic import AuditTopic
from moldau.broker.access.authorizer import AllowEveryone, Authorizer
from moldau.broker.access.rule_store import AccessRuleStore
from moldau.broker.coordination.coordinators import Coordinators
from moldau.broker.coordination.producer_ids import ProducerIds
from moldau.broker.coordination.verification import Verifier
from moldau.broker.login.tokens import Tokens
from moldau.broker.login.users import ScramUsers
from moldau.broker.membership.registration import Registration
from moldau.broker.membership.state import BrokerState
from moldau.broker.metrics.traffic import Traffic
from moldau.broker.quotas.enforcement import Enforcement
from moldau.broker.requests.fetch_sessions import FetchSessions
from moldau.broker.requests.follower_sessions import FollowerSessions
from moldau.broker.requests.old_offsets import OldOffsets
from moldau.broker.settings.changes import ConfigChanges
from moldau.broker.settings.client_quotas import ClientQuotaStore
from moldau.broker.settings.configs import Configs
from moldau.broker.settings.key_stores import KeyStores
from moldau.broker.settings.topic_configs import TopicConfigs
from moldau.broker.storage.flushing import Flusher
from moldau.broker.storage.logs import Logs
from moldau.broker.storage.moves import LogMoves
from moldau.broker.topics.auto_creation import AutoCreation
from moldau.broker.topics.creation import TopicCreation
from moldau.broker.topics.growth import TopicGrowth
from moldau.broker.topics.tree import Topics
from moldau.config.broker.broker import BrokerConfig
from moldau.controller.service import ControllerService
from moldau.coordinator.group_coordinator import GroupCoordinator
from moldau.coordinator.transaction_coordinator import TransactionCoordinator
from moldau.metadata.cache import MetadataCache
from moldau.net.listener import Listener
from moldau.records.scratch import Scratch
from moldau.replication.fetching import Fetching
from moldau.replication.in_sync import InSyncSets
from moldau.replication.replicas import Replicas
from moldau.replication.throttle import Throttle
from moldau.runtime.clock import Clock
from moldau.runtime.loop_lag import LoopLag
from moldau.runtime.metrics import Metrics
from moldau.runtime.waiters import Waiters


@dataclass(slots=True, kw_only=True)
class Broker:
    """Made by `broker/main.py`; passed to every handler."""

    id: int
    cluster_id: str
    config: BrokerConfig
    clock: Clock
    metrics: Metrics
    traffic: Traffic
    waiters: Waiters
    metadata: MetadataCache
    replicas: Replicas
    flusher: Flusher
    fetch_sessions: FetchSessions
    registration: Registration
    topics: Topics
    topic_creation: TopicCreation
    topic_growth: TopicGrowth
    topic_configs: TopicConfigs
    configs: Configs
    config_changes: ConfigChanges
    client_quotas: ClientQuotaStore
    quotas: Enforcement
    users: ScramUsers
    tokens: Tokens
    logs: Logs
    producer_ids: ProducerIds
    auto_creation: AutoCreation
    groups: GroupCoordinator
    transactions: TransactionCoordinator
    coordinators: Coordinators
    old_offsets: OldOffsets
    loop_lag: LoopLag
    state: BrokerState = BrokerState.STARTING
    authorizer: Authorizer = field(default_factory=AllowEveryone)
    access_rules: AccessRuleStore | None = None
    """The rules by which the authorizer decides; None if it allows everyone."""
    audit_topic: AuditTopic | None = None
    """Where denials are recorded beside the log, if a setting says so."""
    scratch: Scratch = field(default_factory=Scratch)
    listeners: list[Listener] = field(default_factory=list)
    key_stores: KeyStores = field(init=False)
    fetching: Fetching = field(init=False)
    in_sync: InSyncSets = field(init=False)
    leader_throttle: Throttle = field(init=False)
    follower_sessions: FollowerSessions = field(init=False)
    log_moves: LogMoves = field(init=False)
    verifier: Verifier = field(init=False)
    controller: ControllerService = field(init=False)
    """Set once the broker is registered: its requests come to this broker."""
