"""The composition root: builds a broker from its settings, runs it, stops it.

The order of starting is Kafka's: the tree, the broker's id, settings, logs, sockets bound but
not served, then registration (from here on the controller knows us), the controller, and
last the requests. Stopping goes the other way, and leaves the logs clean.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from moldau.broker.access.opening import open_access
from moldau.broker.broker import Broker
from moldau.broker.coordination.coordinators import (
    Coordinators,
    leader_of_member,
    make_group_coordinator,
    make_transaction_coordinator,
)
from moldau.broker.coordination.producer_ids import ProducerIds
from moldau.broker.coordination.verification import VERIFIES_SINCE, Verifier
from moldau.broker.dispatch import Dispatcher
from moldau.broker.fast.shortcuts import make_dispatcher
from moldau.broker.login.logins import make_logins
from moldau.broker.login.tokens import make_tokens
from moldau.broker.login.users import ScramUsers
from moldau.broker.membership.following import (
    make_fetch_sessions,
    make_fetching,
    make_follower_sessions,
    make_in_sync_sets,
    make_leader_throttle,
    make_move_throttle,
)
from moldau.broker.membership.identity import BrokerIdentity, establish
from moldau.broker.membership.joining import (
    make_controller_peers,
    make_membership,
    make_peers,
    make_registration,
    new_topic_ids,
    open_zookeeper,
    until_known,
)
from moldau.broker.membership.leaving import hand_over
from moldau.broker.membership.listening import bind_all, registration_of
from moldau.broker.membership.peers import Peers
from moldau.broker.membership.securing import make_handshakes, open_key_stores
from moldau.broker.membership.sessions import ClusterMembership
from moldau.broker.membership.state import BrokerState
from moldau.broker.metrics.gauges import register_gauges
from moldau.broker.metrics.traffic import Traffic
from moldau.broker.quotas.enforcement import Enforcement
from moldau.broker.requests.old_offsets import OldOffsets
from moldau.broker.services import Services
from moldau.broker.settings.changes import ConfigChanges
from moldau.broker.settings.client_quotas import ClientQuotaStore
from moldau.broker.settings.configs import Configs
from moldau.broker.settings.reconfiguration import reconfigure
from moldau.broker.settings.start_only import with_dynamic
from moldau.broker.settings.topic_configs import TopicConfigs
from moldau.broker.settings.unsupported import refuse_unsupported
from moldau.broker.storage.flushing import Flusher, commit_flushed
from moldau.broker.storage.logs import Logs
from moldau.broker.storage.maintenance import Maintenance
from moldau.broker.storage.moves import LogMoves
from moldau.broker.topics.adoption import adopt, warn_of_strays
from moldau.broker.topics.auto_creation import AutoCreation
from moldau.broker.topics.creation import TopicCreation
from moldau.broker.topics.growth import TopicGrowth
from moldau.broker.topics.tree import Topics
from moldau.config.broker.broker import BrokerConfig
from moldau.config.broker.startup import Startup
from moldau.config.topic_defaults import topic_defaults
from moldau.coordination import journal
from moldau.coordination.embedded import EmbeddedTree
from moldau.coordination.sessions import Sessions
from moldau.coordination.tree import Tree
from moldau.coordinator.group_coordinator import GroupCoordinator
from moldau.coordinator.marker_delivery import MarkerDelivery
from moldau.coordinator.shards import Shards
from moldau.coordinator.transaction_coordinator import TransactionCoordinator
from moldau.errors import ErrorCode, KafkaError, KafkaStorageError
from moldau.log.directory import LogDirectory
from moldau.log.meta_properties import MetaProperties
from moldau.log.shared import Shared
from moldau.log.volume import Volume
from moldau.metadata.cache import MetadataCache
from moldau.model import TopicPartition
from moldau.net.listener import Bind, listen
from moldau.replication.partition import ALL_IN_SYNC
from moldau.replication.replicas import Replicas
from moldau.runtime.clock import Clock, SystemClock
from moldau.runtime.disk import Disk, PosixDisk
from moldau.runtime.loop_lag import LoopLag
from moldau.runtime.metrics import Metrics
from moldau.runtime.random import Random, SystemRandom
from moldau.runtime.threads import run_all
from moldau.runtime.waiters import Waiters

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Ports:
    """The ports to the outside: clock, random numbers, disk, sockets, tree."""

    clock: Clock = field(default_factory=SystemClock)
    disk: Disk = field(default_factory=PosixDisk)
    random: Random = field(default_factory=SystemRandom)
    bind: Bind = listen
    open_tree: "OpenTree" = field(default_factory=lambda: open_tree)
    # File systems write the journal once for all that wait: more makes little difference.
    syncs_at_once: int = 8


OpenTree = Callable[[Startup, Ports], Awaitable[Tree]]
"""Begins a session with the tree that the settings name."""


@dataclass(frozen=True, slots=True)
class RunningBroker:
    """A broker that serves requests."""

    broker: Broker
    ports: dict[str, int]
    """Where each listener listens, by its name."""
    dispatcher: Dispatcher
    tree: Tree
    """The session that it began with; a broker alone has no other."""


@asynccontextmanager
async def running(startup: Startup, ports: Ports) -> AsyncIterator[RunningBroker]:
    """A broker from start to stop."""
    refuse_unsupported(startup)
    async with AsyncExitStack() as stack:
        sessions = Sessions(
            partial(ports.open_tree, startup, ports),
            patience_s=startup.config.general.request_timeout_ms / 1000,
        )
        await sessions.open()
        stack.push_async_callback(sessions.close)
        # Logs may take longer to recover than a session lasts without a connection.
        async with sessions.kept():
            broker = await stack.enter_async_context(assembled(startup, ports, sessions))
        startup = with_dynamic(startup, broker.configs.layers)
        logins = await make_logins(broker, startup, sessions, ports.random)
        dispatcher = make_dispatcher(broker)
        listeners = broker.listeners
        handshakes = make_handshakes(broker, startup)
        for listener in bind_all(startup, dispatcher, ports.bind, logins.gatekeepers, handshakes):
            stack.callback(listener.close)
            listeners.append(listener)
        register_gauges(broker, listeners)
        bound_ports = {listener.endpoint.name: listener.port for listener in listeners}
        node = registration_of(startup, bound_ports, now_ms=ports.clock.now_ms())
        controller_peers = make_controller_peers(broker, startup, dispatcher)
        stack.callback(controller_peers.close)
        peers = make_peers(broker, startup, dispatcher)
        stack.callback(peers.close)
        # Markers wait for followers: nothing else is to wait behind them.
        markers = make_peers(broker, startup, dispatcher)
        stack.callback(markers.close)
        membership = make_membership(broker, startup, sessions, node, controller_peers)
        async with serving(broker, ports, membership, peers, markers) as tasks:
            if startup.config.is_standalone:
                await until_known(broker)
            tasks.start(logins.run())
            for listener in listeners:
                tasks.start(listener.serve())
            # The controller of a cluster can only send metadata to a broker that listens.
            await until_known(broker)
            broker.state = BrokerState.RUNNING
            yield RunningBroker(broker, bound_ports, dispatcher, sessions.session)
            broker.state = BrokerState.HANDING_OVER
            await hand_over(broker, peers)
            broker.state = BrokerState.STOPPING


@asynccontextmanager
async def assembled(startup: Startup, ports: Ports, tree: Tree) -> AsyncIterator[Broker]:
    """A broker with its logs open, before it is registered."""
    async with AsyncExitStack() as stack:
        identity = await establish(tree, ports.disk, startup.config, uuid=ports.random.uuid())
        topic_configs = TopicConfigs(tree, topic_defaults(startup.config))
        await topic_configs.load()
        configs = Configs(tree, identity.broker_id, startup.texts, topics=topic_configs)
        await configs.load()
        logs = await _open_logs(startup, ports, identity, topic_configs, stack)
        if startup.config.is_standalone:
            broker_id, new_uuid = identity.broker_id, ports.random.uuid
            await adopt(startup, tree, logs, broker_id=broker_id, new_uuid=new_uuid)
        warn_of_strays(logs)
        broker = _assemble(ports, tree, identity, logs, configs)
        broker.key_stores = open_key_stores(startup, configs)
        await open_access(broker, startup, tree)
        await broker.client_quotas.load()
        await broker.tokens.load()
        for directory in logs.directories:
            directory.shared.sync_soon = broker.flusher.flush_soon
        broker.fetching = make_fetching(broker, with_dynamic(startup, configs.layers))
        broker.follower_sessions = make_follower_sessions(broker)
        broker.in_sync = make_in_sync_sets(broker, tree)
        broker.leader_throttle = make_leader_throttle(broker)
        broker.log_moves = LogMoves(
            logs,
            broker.replicas,
            broker.flusher,
            clock=ports.clock,
            new_uuid_hex=lambda: ports.random.uuid().hex(),
        )
        broker.log_moves.throttle = make_move_throttle(broker)
        configs.listen(logs.reconfigure, partial(reconfigure, broker))
        yield broker


@asynccontextmanager
async def serving(
    broker: Broker, ports: Ports, membership: ClusterMembership, peers: Peers, markers: Peers
) -> AsyncIterator[Services]:
    """A registered broker at work: its part in the controllership, and what goes on behind."""
    await membership.join()
    maintenance = Maintenance(
        broker.logs.directories,
        broker.flusher,
        config=lambda: broker.config,
        clock=ports.clock,
        seed=ports.random.uuid(),
    )
    broker.verifier = Verifier(
        broker.id,
        broker.transactions,
        broker.metadata,
        partial(peers.ask_newest, least=VERIFIES_SINCE),
        is_enabled=lambda: broker.config.transactions.transaction_partition_verification_enable,
    )
    delivery = MarkerDelivery(markers.ask, partial(leader_of_member, broker.metadata))
    async with Services() as services:
        services.start(maintenance.run())
        services.start(broker.flusher.run())
        services.start(broker.loop_lag.run())
        services.start(membership.run())
        services.start(broker.log_moves.run())
        services.start(broker.fetching.run())
        services.start(broker.in_sync.run())
        services.start(broker.key_stores.run())
        services.start(broker.groups.run())
        services.start(broker.transactions.run(delivery))
        if broker.audit_topic is not None:
            services.start(broker.audit_topic.run(peers.ask))
        yield services


async def open_tree(startup: Startup, ports: Ports) -> Tree:
    """ZooKeeper, or the embedded store in the first log directory."""
    if not startup.config.is_standalone:
        return await open_zookeeper(startup)
    first = startup.config.log_dirs[0]
    _make_directories(ports.disk, first)
    return await EmbeddedTree.open(f"{first}/{journal.FILE_NAME}", clock=ports.clock)


def _make_directories(disk: Disk, path: str) -> None:
    parent = path.rpartition("/")[0]
    if parent and disk.status(parent) is None:
        _make_directories(disk, parent)
    if disk.status(path) is None:
        disk.make_directory(path)
        # Else a power loss could take the whole directory, whatever is synced in it.
        disk.sync_directory(parent or "/")


async def _open_logs(
    startup: Startup,
    ports: Ports,
    identity: BrokerIdentity,
    topic_configs: TopicConfigs,
    stack: AsyncExitStack,
) -> Logs:
    config = startup.config
    owner = MetaProperties(identity.broker_id, identity.cluster_id)
    directories = []
    for path in config.log_dirs:
        shared = Shared(
            producer_expiration_ms=config.log.producer_id_expiration_ms,
            draw=ports.random.below,
        )
        directory = LogDirectory(Volume(ports.disk, path), shared)
        directories.append(directory)
        try:
            with directory.volume.guard():
                _make_directories(ports.disk, path)
            directory.claim(owner)
            for _ in directory.load(
                lambda partition: topic_configs.of(partition.topic), now_ms=ports.clock.now_ms()
            ):
                await asyncio.sleep(0)
            stack.callback(_close, directory, ports)
        except KafkaStorageError as error:
            _log.error("Failed to load log directory %s, starting without it: %s", path, error)
    if not any(directory.volume.is_online for directory in directories):
        raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "no log directory can be used")
    return Logs(directories, topic_configs, new_uuid_hex=lambda: ports.random.uuid().hex())


def _close(directory: LogDirectory, ports: Ports) -> None:
    if directory.volume.is_online:
        run = partial(run_all, at_once=ports.syncs_at_once)
        directory.close(now_ms=ports.clock.now_ms(), run_all=run)


def _make_coordinators(
    config: BrokerConfig,
    metadata: MetadataCache,
    ports: Ports,
    waiters: Waiters,
    *,
    new_producer_id: Callable[[], Awaitable[int]],
) -> tuple[GroupCoordinator, TransactionCoordinator, Coordinators]:
    groups = make_group_coordinator(
        config.groups,
        metadata,
        clock=ports.clock,
        waiters=waiters,
        new_uuid=ports.random.uuid,
    )
    transactions = make_transaction_coordinator(
        config,
        metadata,
        clock=ports.clock,
        waiters=waiters,
        new_producer_id=new_producer_id,
    )
    shards: dict[Shards[Any], int] = {
        groups.shards: config.groups.offsets_commit_required_acks,
        transactions.shards: ALL_IN_SYNC,
    }
    return groups, transactions, Coordinators(shards, ports.clock)


def _assemble(
    ports: Ports, tree: Tree, identity: BrokerIdentity, logs: Logs, configs: Configs
) -> Broker:
    config = configs.layers.config
    metrics, waiters, metadata = Metrics(), Waiters(), MetadataCache()
    new_topic_id = new_topic_ids(config, ports.random.uuid)
    topics = Topics(tree, metadata, waiters, new_uuid=new_topic_id, draw=ports.random.below)
    producer_ids = ProducerIds(tree, identity.broker_id)
    groups, transactions, coordinators = _make_coordinators(
        config, metadata, ports, waiters, new_producer_id=producer_ids.next
    )
    is_known, lag_max_ms = partial(_is_known, metadata), config.replication.replica_lag_time_max_ms
    replicas = Replicas(identity.broker_id, logs, lag_max_ms=lag_max_ms, is_known=is_known)
    quotas = Enforcement(config.quotas, ports.clock)
    return Broker(
        id=identity.broker_id,
        cluster_id=identity.cluster_id,
        config=config,
        clock=ports.clock,
        metrics=metrics,
        traffic=Traffic(metrics),
        waiters=waiters,
        metadata=metadata,
        replicas=replicas,
        flusher=Flusher(
            ports.disk, ports.clock, flushed=partial(commit_flushed, replicas, waiters)
        ),
        fetch_sessions=make_fetch_sessions(config.replication, replicas, ports.random.below),
        registration=make_registration(identity.broker_id, config, logs.directories),
        topics=topics,
        topic_creation=TopicCreation(topics, configs),
        topic_growth=TopicGrowth(topics),
        topic_configs=logs.configs,
        configs=configs,
        config_changes=ConfigChanges(configs, metadata, identity.broker_id),
        client_quotas=ClientQuotaStore(configs, quotas),
        quotas=quotas,
        users=ScramUsers(configs),
        tokens=make_tokens(config.security, tree, ports.clock, ports.random.uuid),
        logs=logs,
        producer_ids=producer_ids,
        auto_creation=AutoCreation(topics, config),
        groups=groups,
        transactions=transactions,
        coordinators=coordinators,
        old_offsets=OldOffsets(tree),
        loop_lag=LoopLag(metrics),
    )


def _is_known(metadata: MetadataCache, partition: TopicPartition) -> bool:
    return metadata.image.partition(partition.topic, partition.partition) is not None
