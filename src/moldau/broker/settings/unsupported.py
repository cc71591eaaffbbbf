"""Settings that this broker knows but cannot honour yet, and so refuses to start with.

Each of them protects something; to start without it would be to leave it open.
"""

from moldau.config.broker.startup import Startup
from moldau.config.broker.zookeeper import ZooKeeperConfig
from moldau.config.listeners import SecurityProtocol
from moldau.config.values import config_error
from moldau.config.versions import is_at_least
from moldau.coordinator.group.consumer.target import offered_assignors
from moldau.protocol.inter_broker import OLDEST
from moldau.replication.read_replica import selects_by_rack


def refuse_unsupported(startup: Startup) -> None:
    """Raise InvalidConfig for the first such setting."""
    config = startup.config
    if config.security.authorizer_class_name:
        raise config_error(
            "authorizer.class.name: authorisation is not available yet; remove the setting to "
            "let everyone do everything, which is what would happen"
        )
    assignors = config.groups.group_consumer_assignors
    if len(offered_assignors(config.groups)) < max(len(assignors), 1):
        raise config_error(
            "group.consumer.assignors: there are only the uniform and the range assignor, not "
            f"all of {', '.join(assignors)}"
        )
    selects_by_rack(config.replication.replica_selector_class)
    for listener in startup.listeners.bound:
        if listener.protocol is not SecurityProtocol.PLAINTEXT:
            raise config_error(
                f"listeners: {listener} needs {listener.protocol.name}, which is not available "
                "yet; use PLAINTEXT"
            )
    _refuse_unprotected_tree(config.zookeeper)
    protocol = config.general.inter_broker_protocol_version
    if not config.is_standalone and not is_at_least(protocol, OLDEST):
        raise config_error(
            f"inter.broker.protocol.version: {protocol} is older than {OLDEST}, the oldest that "
            "brokers can be spoken to with"
        )


def _refuse_unprotected_tree(config: ZooKeeperConfig) -> None:
    unavailable = {
        "zookeeper.ssl.crl.enable": config.zookeeper_ssl_crl_enable,
        "zookeeper.ssl.ocsp.enable": config.zookeeper_ssl_ocsp_enable,
    }
    for name, is_wanted in unavailable.items():
        if is_wanted:
            raise config_error(f"{name}: not available yet; remove the setting to do without")
    if config.zookeeper_client_cnxn_socket and not config.zookeeper_ssl_client_enable:
        raise config_error("zookeeper.clientCnxnSocket: needs zookeeper.ssl.client.enable=true")
