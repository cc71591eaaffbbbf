"""Settings of listeners, connections and requests."""

from moldau.config.definition import Area, Importance, UpdateMode, integer, long, string
from moldau.config.rules import at_least, one_of
from moldau.config.values import INT_MAX


class NetworkConfig(Area):
    """Where the broker listens and how much it takes from whom."""

    listeners: str = string(
        "PLAINTEXT://:9092",
        "Addresses to listen on, `NAME://host:port` separated by commas; an empty host "
        "means all interfaces, `localhost` this machine alone. A dynamic change is refused: "
        "it is read at start, from the file.",
        importance=Importance.HIGH,
        update=UpdateMode.PER_BROKER,
    )
    advertised_listeners: str | None = string(
        None,
        "Addresses that are sent to clients, where they differ from `listeners`. Without it a "
        "broker on the embedded store sends each client the address that it came in on. A "
        "dynamic change is refused: it is read at start, from the file.",
        importance=Importance.HIGH,
        update=UpdateMode.PER_BROKER,
    )
    listener_security_protocol_map: str = string(
        "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT",
        "Security protocol of each listener name, `NAME:PROTOCOL` separated by commas.",
        importance=Importance.LOW,
        update=UpdateMode.PER_BROKER,
    )
    inter_broker_listener_name: str | None = string(
        None,
        "Listener that other brokers use; default is the one with "
        "`security.inter.broker.protocol`.",
    )
    security_inter_broker_protocol: str = string(
        "PLAINTEXT",
        "Protocol among brokers, where `inter.broker.listener.name` is not set.",
        one_of("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"),
    )
    control_plane_listener_name: str | None = string(
        None, "Listener for the controller's requests alone.", importance=Importance.HIGH
    )
    early_start_listeners: str | None = string(
        None, "Listeners that open before the authorizer is ready.", importance=Importance.HIGH
    )
    num_network_threads: int = integer(
        3,
        "Kept for compatibility: one event loop does the work of Kafka's network threads.",
        at_least(1),
        importance=Importance.HIGH,
        update=UpdateMode.CLUSTER_WIDE,
    )
    num_io_threads: int = integer(
        8,
        "Kept for compatibility: one event loop does the work of Kafka's request threads.",
        at_least(1),
        importance=Importance.HIGH,
        update=UpdateMode.CLUSTER_WIDE,
    )
    queued_max_requests: int = integer(
        500,
        "Without effect: requests do not queue, each connection has one in progress.",
        at_least(1),
        importance=Importance.HIGH,
    )
    queued_max_request_bytes: int = long(
        -1,
        "Bytes of requests larger than `moldau.receive.buffer.bytes` that may be in progress "
        "before others like them are no longer read; -1 is no limit.",
    )
    socket_listen_backlog_size: int = integer(
        50,
        "Connections that may wait to be accepted; at this default as many as the operating "
        "system allows.",
        at_least(1),
    )
    socket_receive_buffer_bytes: int = integer(
        102_400,
        "SO_RCVBUF of server sockets; -1, and this default, leave it to the operating system.",
        importance=Importance.HIGH,
    )
    socket_send_buffer_bytes: int = integer(
        102_400,
        "SO_SNDBUF of server sockets, three times as much at this default; -1 leaves it to the "
        "operating system.",
        importance=Importance.HIGH,
    )
    socket_request_max_bytes: int = integer(
        104_857_600,
        "Largest request; a larger one closes the connection.",
        at_least(1),
        importance=Importance.HIGH,
    )
    socket_connection_setup_timeout_ms: int = long(
        10_000, "Time to connect to another broker, for the first attempt."
    )
    socket_connection_setup_timeout_max_ms: int = long(
        30_000, "Time to connect to another broker, after repeated failures."
    )
    max_connections: int = integer(
        INT_MAX,
        "Connections of the whole broker; the inter-broker listener may go above it.",
        at_least(0),
        update=UpdateMode.CLUSTER_WIDE,
    )
    max_connections_per_ip: int = integer(
        INT_MAX, "Connections from one address.", at_least(0), update=UpdateMode.CLUSTER_WIDE
    )
    max_connections_per_ip_overrides: str = string(
        "",
        "Other limits for single addresses, `host:count` separated by commas.",
        update=UpdateMode.CLUSTER_WIDE,
    )
    max_connection_creation_rate: int = integer(
        INT_MAX,
        "New connections per second of the whole broker.",
        at_least(0),
        update=UpdateMode.CLUSTER_WIDE,
    )
    connections_max_idle_ms: int = long(
        600_000, "Time after which a silent connection is closed; -1 is no limit."
    )
    connection_failed_authentication_delay_ms: int = integer(
        100,
        "Time that a failed login waits for its answer, against guessing.",
        at_least(0),
        importance=Importance.LOW,
    )
    connections_max_reauth_ms: int = long(
        0,
        "Longest life of a SASL session before the client must authenticate again; 0 is no limit.",
    )
