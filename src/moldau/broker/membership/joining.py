"""How this broker takes part in its cluster: the tree, the controllership, the other brokers."""

from collections.abc import Callable, Iterable
from functools import partial

from moldau.broker.broker import Broker
from moldau.broker.dispatch import Dispatcher
from moldau.broker.membership.channels import Channels
from moldau.broker.membership.contact import LIMITS as CONTACT_LIMITS
from moldau.broker.membership.contact import contacts
from moldau.broker.membership.peers import FindAddress, OpenChannel, PeerAddress, Peers
from moldau.broker.membership.registration import Registration
from moldau.broker.membership.sessions import ClusterMembership
from moldau.broker.storage.failed_directories import FailedDirectories
from moldau.config.broker.broker import BrokerConfig
from moldau.config.broker.startup import Startup
from moldau.config.broker.zookeeper import ZooKeeperConfig
from moldau.config.values import config_error
from moldau.config.versions import is_at_least
from moldau.controller.lookout import OpenContact
from moldau.controller.service import ControllerService, Rules
from moldau.coordination.layout.brokers import BrokerRegistration
from moldau.coordination.layout.cluster import FeatureNode
from moldau.coordination.protection import Protection
from moldau.coordination.sessions import Sessions
from moldau.coordination.tree import Tree
from moldau.log.directory import LogDirectory
from moldau.model import TopicPartition
from moldau.net.channel import ChannelLimits
from moldau.protocol.inter_broker import (
    FEATURE_LEVELS_SINCE,
    FEATURES_SINCE,
    TOPIC_IDS_SINCE,
)
from moldau.protocol.primitives import NO_UUID
from moldau.runtime.java_options import java_properties
from moldau.security.tls import TlsSettings, client_context
from moldau.security.zookeeper_login import find_login

# A cluster may be without a controller: then clients have to ask again, as with Kafka.
_FIRST_METADATA_S = 5.0


async def open_zookeeper(startup: Startup) -> Tree:
    """A session with the ensemble that the settings name."""
    # Imported only now: a broker on its embedded store does without.
    from moldau.coordination.zookeeper import ZooKeeperTree  # noqa: PLC0415

    config = startup.config.zookeeper
    assert config.zookeeper_connect is not None
    session_timeout_ms = config.zookeeper_session_timeout_ms
    return await ZooKeeperTree.open(
        config.zookeeper_connect,
        session_timeout_ms=session_timeout_ms,
        connect_timeout_ms=config.zookeeper_connection_timeout_ms or session_timeout_ms,
        requests_max=config.zookeeper_max_in_flight_requests,
        protection=_protection(config),
    )


def has_topic_ids(config: BrokerConfig) -> bool:
    """Whether all brokers of the cluster know that topics have ids."""
    return is_at_least(config.general.inter_broker_protocol_version, TOPIC_IDS_SINCE)


def new_topic_ids(config: BrokerConfig, new_uuid: Callable[[], bytes]) -> Callable[[], bytes]:
    """What gives new topics their ids, or NO_UUID where they have none."""
    return new_uuid if has_topic_ids(config) else lambda: NO_UUID


def make_registration(
    broker_id: int, config: BrokerConfig, directories: Iterable[LogDirectory]
) -> Registration:
    """This broker in the tree, as yet unknown to it."""
    # The node of an earlier life goes with its session, give or take a tick.
    session_timeout_ms = config.zookeeper.zookeeper_session_timeout_ms
    # What the earlier life held is known to have ended.
    is_heir = any(one.is_known_to_owner and one.volume.is_online for one in directories)
    return Registration(
        broker_id,
        patience_s=1.5 * session_timeout_ms / 1000,
        may_replace=is_heir and config.replication.moldau_failover_on_connection_loss,
    )


def make_peers(broker: Broker, startup: Startup, dispatcher: Dispatcher) -> Peers:
    """Requests of this broker to the brokers in its metadata."""

    def find(broker_id: int) -> PeerAddress | None:
        endpoint = broker.metadata.image.endpoint(broker_id, startup.listeners.inter_broker_name)
        return None if endpoint is None else PeerAddress(endpoint.host, endpoint.port)

    limits = ChannelLimits(timeout_s=startup.config.general.request_timeout_ms / 1000)
    channels = Channels(startup, broker.clock, key_stores=broker.key_stores)
    open_channel = partial(channels.open, limits=limits)
    return _peers(broker, startup, dispatcher, find, open_channel)


def make_controller_peers(broker: Broker, startup: Startup, dispatcher: Dispatcher) -> Peers:
    """Requests of the controller, which is the first to know where brokers are."""
    listener = startup.listeners.control_plane_name or startup.listeners.inter_broker_name

    def find(broker_id: int) -> PeerAddress | None:
        if not broker.controller.is_controller:
            return None
        live = broker.controller.machine.cluster.brokers.get(broker_id)
        for endpoint in () if live is None else live.endpoints:
            if endpoint.listener == listener:
                return PeerAddress(endpoint.host, endpoint.port)
        return None

    timeout_ms = startup.config.replication.controller_socket_timeout_ms
    limits = ChannelLimits(timeout_s=timeout_ms / 1000)
    channels = Channels(startup, broker.clock, listener, key_stores=broker.key_stores)
    open_channel = partial(channels.open, limits=limits)
    return _peers(broker, startup, dispatcher, find, open_channel)


def make_membership(
    broker: Broker,
    startup: Startup,
    sessions: Sessions,
    node: BrokerRegistration,
    controller_peers: Peers,
) -> ClusterMembership:
    """The broker's place in the cluster; `controller_peers` is how it sends as controller."""
    replication = startup.config.replication
    interval_s = replication.leader_imbalance_check_interval_seconds
    is_watched = replication.moldau_failover_on_connection_loss
    rules = Rules(
        is_unclean_allowed=broker.topic_configs.is_unclean_allowed,
        listener=startup.listeners.inter_broker_name,
        rebalance_s=interval_s if replication.auto_leader_rebalance_enable else None,
        imbalance_percentage=replication.leader_imbalance_per_broker_percentage,
        features=_features(startup.config),
        new_topic_id=broker.topics.new_id if has_topic_ids(startup.config) else None,
        deleted=broker.waiters.wake if startup.config.general.delete_topic_enable else None,
        open_contact=_contacts(broker, startup) if is_watched else None,
    )

    def start_office(tree: Tree) -> ControllerService:
        broker.controller = ControllerService(
            tree, broker.id, send=controller_peers.send, clock=broker.clock, rules=rules
        )
        return broker.controller

    broker.configs.listen(
        lambda _topic: broker.controller.rules_changed(),
        lambda _layers: broker.controller.rules_changed(),
    )
    failures = FailedDirectories(broker.logs.directories, sessions, broker.id)
    followed = [] if broker.access_rules is None else [broker.access_rules.run]
    return ClusterMembership(
        sessions,
        broker.registration,
        node,
        start_office,
        companions=[broker.configs.run, broker.tokens.run, failures.run, *followed],
    )


def _contacts(broker: Broker, startup: Startup) -> OpenContact:
    listener = startup.listeners.inter_broker_name
    channels = Channels(startup, broker.clock, listener, key_stores=broker.key_stores)
    client_id = f"broker-{broker.id}-watch"
    return contacts(
        listener, lambda host, port: channels.open(host, port, client_id, CONTACT_LIMITS)
    )


async def until_known(broker: Broker) -> None:
    """Wait for the controller's requests, so that the first client sees the cluster as it is."""

    def is_known() -> bool:
        image, controller = broker.metadata.image, broker.controller
        if broker.id not in image.brokers or not _knows_what_it_leads(broker):
            return False
        if not controller.is_controller:
            return True
        cluster = controller.machine.cluster
        return all(name in image.topics or name in cluster.deleting for name in cluster.topics)

    keys = [broker.metadata, broker.replicas]
    await broker.waiters.until(is_known, keys=keys, timeout_s=_FIRST_METADATA_S)


def _knows_what_it_leads(broker: Broker) -> bool:
    """A broker that starts gets UpdateMetadata before the LeaderAndIsr of what it leads."""
    return all(
        broker.replicas.is_assigned(TopicPartition(name, number))
        for name, topic in broker.metadata.image.topics.items()
        for number, partition in topic.partitions.items()
        if partition.leader == broker.id
    )


def _features(config: BrokerConfig) -> FeatureNode:
    protocol = config.general.inter_broker_protocol_version
    return FeatureNode(
        is_enabled=is_at_least(protocol, FEATURES_SINCE),
        version=2 if is_at_least(protocol, FEATURE_LEVELS_SINCE) else 1,
    )


def _protection(config: ZooKeeperConfig) -> Protection:
    is_secure = config.zookeeper_ssl_client_enable
    begin_login = find_login(config.zookeeper_sasl_jaas_config, java_properties())
    has_certificate = is_secure and bool(config.zookeeper_ssl_keystore_location)
    if config.zookeeper_set_acl and begin_login is None and not has_certificate:
        raise config_error(
            "zookeeper.set.acl: ZooKeeper has to know the broker: set "
            "moldau.zookeeper.sasl.jaas.config, or zookeeper.ssl.keystore.location with TLS"
        )
    return Protection(
        tls=client_context(_tls_settings(config)) if is_secure else None,
        begin_login=begin_login,
        has_acls=config.zookeeper_set_acl,
    )


def _tls_settings(config: ZooKeeperConfig) -> TlsSettings:
    protocols = config.zookeeper_ssl_enabled_protocols or (config.zookeeper_ssl_protocol,)
    return TlsSettings(
        truststore_location=config.zookeeper_ssl_truststore_location or "",
        truststore_password=config.zookeeper_ssl_truststore_password or "",
        truststore_type=config.zookeeper_ssl_truststore_type or "",
        keystore_location=config.zookeeper_ssl_keystore_location or "",
        keystore_password=config.zookeeper_ssl_keystore_password or "",
        keystore_type=config.zookeeper_ssl_keystore_type or "",
        endpoint_identification_algorithm=(config.zookeeper_ssl_endpoint_identification_algorithm),
        enabled_protocols=",".join(protocols),
        cipher_suites=",".join(config.zookeeper_ssl_cipher_suites or ()),
    )


def _peers(
    broker: Broker,
    startup: Startup,
    dispatcher: Dispatcher,
    find: FindAddress,
    open_channel: OpenChannel,
) -> Peers:
    return Peers(
        broker.id,
        dispatcher,
        find,
        protocol=startup.config.general.inter_broker_protocol_version,
        open_channel=open_channel,
    )
