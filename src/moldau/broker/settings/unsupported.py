"""Settings that this broker knows but cannot honour yet, and so refuses to start with.

Each of them protects something; to start without it would be to leave it open.
"""

from moldau.config.broker.startup import Startup
from moldau.config.broker.zookeeper import ZooKeeperConfig
from moldau.config.values import config_error
from moldau.config.versions import is_at_least
from moldau.coordinator.group.consumer.target import offered_assignors
from moldau.protocol.inter_broker import OLDEST
from moldau.replication.read_replica import selects_by_rack

_PROVIDERS = "config.providers"


def refuse_unsupported(startup: Startup) -> None:
    """Raise InvalidConfig for the first such setting."""
    config = startup.config
    if startup.texts.get(_PROVIDERS, "").strip():
        raise config_error(
            f"{_PROVIDERS}: values are taken as they are, and nothing is read from elsewhere; "
            "write the values themselves into a file that only the broker can read"
        )
    if config.quotas.client_quota_callback_class:
        raise config_error(
            "client.quota.callback.class: Java classes cannot be loaded; remove the setting, and "
            "quotas are those that kafka-configs.sh sets for users and clients"
        )
    assignors = config.groups.group_consumer_assignors
    if len(offered_assignors(config.groups)) < max(len(assignors), 1):
        raise config_error(
            "group.consumer.assignors: there are only the uniform and the range assignor, not "
            f"all of {', '.join(assignors)}"
        )
    selects_by_rack(config.replication.replica_selector_class)
    _refuse_unprotected_tree(config.zookeeper)
    protocol = config.general.inter_broker_protocol_version
    if not config.is_standalone and not is_at_least(protocol, OLDEST):
        raise config_error(
            f"inter.broker.protocol.version: {protocol} is older than {OLDEST}, the oldest that "
            "is supported among brokers"
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
