"""Settings of Moldau alone: limits that Kafka does not have."""

from moldau.config.definition import Area, Importance, integer
from moldau.config.rules import at_least


class LimitConfig(Area):
    """What one client can cost the broker at most."""

    moldau_frame_timeout_ms: int = integer(
        60_000,
        "Time for a request to arrive once its first byte has, before the connection is closed.",
        at_least(1),
    )
    moldau_handshake_timeout_ms: int = integer(
        10_000, "Time for a TLS handshake and a SASL exchange.", at_least(1)
    )
    moldau_write_stall_timeout_ms: int = integer(
        60_000, "Time during which a client may read nothing of its response.", at_least(1)
    )
    moldau_receive_buffer_bytes: int = integer(
        65_536,
        "Receive buffer that a connection starts with and goes back to after a large request.",
        at_least(1024),
        importance=Importance.LOW,
    )
    moldau_send_buffer_bytes: int = integer(
        1_048_576,
        "Bytes of responses that a connection may hold before it takes no more requests.",
        at_least(1024),
        importance=Importance.LOW,
    )
    moldau_sendfile_threshold_bytes: int = integer(
        32_768,
        "Size from which a part of a log is sent from its file without being read.",
        at_least(0),
        importance=Importance.LOW,
    )
    moldau_list_request_max_bytes: int = integer(
        1_048_576,
        "Size of a request that only names things: all but those with records, subscriptions,"
        " assignments or committed offsets, and those of brokers.",
        at_least(1024),
        importance=Importance.LOW,
    )
    moldau_requests_per_turn: int = integer(
        32,
        "Requests of one connection that are answered before others get their turn.",
        at_least(1),
        importance=Importance.LOW,
    )
