"""Settings of clients as keywords, so that type checkers know their names and types.

`moldau.client.settings` says what they mean, and their defaults; a test holds both equal.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TypedDict


class SecurityOptions(TypedDict, total=False):
    """How a client is protected: TLS, SASL, both or neither."""

    security_protocol: str
    sasl_mechanism: str
    sasl_username: str
    sasl_password: str
    sasl_tokenauth: bool
    sasl_jaas_config: str
    sasl_oauthbearer_token: str
    sasl_oauthbearer_token_provider: Callable[[], object] | None
    sasl_oauthbearer_token_endpoint_url: str
    sasl_oauthbearer_client_credentials_client_id: str
    sasl_oauthbearer_client_credentials_client_secret: str
    sasl_oauthbearer_scope: str
    sasl_oauthbearer_extensions: Mapping[str, str] | None
    ssl_truststore_location: str
    ssl_truststore_password: str
    ssl_truststore_type: str
    ssl_truststore_certificates: str
    ssl_keystore_location: str
    ssl_keystore_password: str
    ssl_keystore_type: str
    ssl_keystore_key: str
    ssl_keystore_certificate_chain: str
    ssl_key_password: str
    ssl_endpoint_identification_algorithm: str
    ssl_enabled_protocols: str
    ssl_cipher_suites: str


class ClientOptions(SecurityOptions, total=False):
    """What every client has."""

    bootstrap_servers: str | Iterable[str]
    client_id: str
    request_timeout_ms: int
    retry_backoff_ms: int
    reconnect_backoff_ms: int
    reconnect_backoff_max_ms: int
    connections_max_idle_ms: int
    send_buffer_bytes: int
    receive_buffer_bytes: int
    client_dns_lookup: str
    metadata_max_age_ms: int
    socket_connection_setup_timeout_ms: int
    metrics_sample_window_ms: int


class ProducerOptions(ClientOptions, total=False):
    """What a producer has."""

    acks: int | str
    enable_idempotence: bool
    max_in_flight_requests_per_connection: int
    batch_size: int
    linger_ms: int
    buffer_memory: int
    max_request_size: int
    compression_type: str
    compression_gzip_level: int
    compression_lz4_level: int
    compression_zstd_level: int
    max_block_ms: int
    delivery_timeout_ms: int
    retries: int
    transactional_id: str
    transaction_timeout_ms: int


class ConsumerOptions(ClientOptions, total=False):
    """What a consumer has."""

    group_id: str
    group_instance_id: str
    group_protocol: str
    group_remote_assignor: str
    client_rack: str
    session_timeout_ms: int
    heartbeat_interval_ms: int
    max_poll_interval_ms: int
    max_poll_records: int
    partition_assignment_strategy: str
    enable_auto_commit: bool
    auto_commit_interval_ms: int
    auto_offset_reset: str
    isolation_level: str
    fetch_min_bytes: int
    fetch_max_bytes: int
    fetch_max_wait_ms: int
    max_partition_fetch_bytes: int
    default_api_timeout_ms: int
    exclude_internal_topics: bool
    check_crcs: bool
    allow_auto_create_topics: bool


class AdminOptions(ClientOptions, total=False):
    """What an admin client has."""

    default_api_timeout_ms: int
    retries: int
