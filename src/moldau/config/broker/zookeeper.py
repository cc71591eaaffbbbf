"""Settings of the connection to ZooKeeper."""

from moldau.config.definition import Area, Importance, boolean, integer, listing, password, string
from moldau.config.rules import at_least
from moldau.config.values import Password


class ZooKeeperConfig(Area):
    """Which ensemble holds the cluster's state: without one, the embedded store does."""

    zookeeper_connect: str | None = string(
        None,
        "Addresses of the ensemble, `host:port` separated by commas, with an optional path "
        "at the end. Without it one broker runs on the embedded store.",
        importance=Importance.HIGH,
    )
    zookeeper_session_timeout_ms: int = integer(
        18_000,
        "Time without contact after which ZooKeeper gives up a broker.",
        importance=Importance.HIGH,
    )
    zookeeper_connection_timeout_ms: int | None = integer(
        None,
        "Time to connect at start; default is `zookeeper.session.timeout.ms`.",
        importance=Importance.HIGH,
    )
    zookeeper_max_in_flight_requests: int = integer(
        10, "Requests that may be unanswered at a time.", at_least(1), importance=Importance.HIGH
    )
    zookeeper_set_acl: bool = boolean(
        False, "Whether znodes are protected by ZooKeeper's own ACLs.", importance=Importance.HIGH
    )
    zookeeper_sasl_jaas_config: Password | None = password(
        "Who the broker logs in to ZooKeeper as: "
        '`org.apache.zookeeper.server.auth.DigestLoginModule required username="…" '
        'password="…";`. Without it, the section `Client` of the login file that '
        "`-Djava.security.auth.login.config` in `KAFKA_OPTS` names, as with Apache's broker.",
        name="moldau.zookeeper.sasl.jaas.config",
    )
    zookeeper_metadata_migration_enable: bool = boolean(
        False, "Whether the cluster moves to KRaft; not supported.", importance=Importance.HIGH
    )
    zookeeper_metadata_migration_min_batch_size: int = integer(
        200, "Batch size of such a move.", at_least(1), is_internal=True
    )
    zookeeper_client_cnxn_socket: str | None = string(
        None,
        "Java class for TLS connections; any value stands for TLS.",
        name="zookeeper.clientCnxnSocket",
    )
    zookeeper_ssl_client_enable: bool = boolean(False, "Whether the connection is encrypted.")
    zookeeper_ssl_keystore_location: str | None = string(
        None, "File with the broker's key and certificate."
    )
    zookeeper_ssl_keystore_password: Password | None = password("Password of that file.")
    zookeeper_ssl_keystore_type: str | None = string(
        None, "Kind of that file; default is from its ending."
    )
    zookeeper_ssl_truststore_location: str | None = string(
        None, "File with the certificates to trust."
    )
    zookeeper_ssl_truststore_password: Password | None = password("Password of that file.")
    zookeeper_ssl_truststore_type: str | None = string(
        None, "Kind of that file; default is from its ending."
    )
    zookeeper_ssl_protocol: str = string(
        "TLSv1.2", "TLS version to offer.", importance=Importance.LOW
    )
    zookeeper_ssl_enabled_protocols: tuple[str, ...] | None = listing(
        None,
        "TLS versions to allow; default is `zookeeper.ssl.protocol` alone.",
        importance=Importance.LOW,
    )
    zookeeper_ssl_cipher_suites: tuple[str, ...] | None = listing(
        None, "Cipher suites to allow; default is OpenSSL's choice.", importance=Importance.LOW
    )
    zookeeper_ssl_endpoint_identification_algorithm: str = string(
        "HTTPS", "`HTTPS` checks the server's host name, empty does not.", importance=Importance.LOW
    )
    zookeeper_ssl_crl_enable: bool = boolean(
        False,
        "Whether certificates are checked against revocation lists.",
        importance=Importance.LOW,
    )
    zookeeper_ssl_ocsp_enable: bool = boolean(
        False, "Whether certificates are checked by OCSP.", importance=Importance.LOW
    )
