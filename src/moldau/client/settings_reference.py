"""The settings of clients as a page: `python -m moldau.client.settings_reference`."""

import sys
from collections.abc import Iterator
from dataclasses import MISSING, Field, fields

from moldau.client.security_settings import SecuritySettings
from moldau.client.settings import (
    AdminSettings,
    ClientSettings,
    ConsumerSettings,
    ProducerSettings,
    dotted,
)

_INTRODUCTION = """\
# Settings of clients

<!-- Written by `python -m moldau.client.settings_reference`; change that module, not this page. -->

Producers, consumers and admin clients take these as keywords (`linger_ms=5`), or as a mapping with
Kafka's names (`{"linger.ms": 5}`). Type checkers know the keywords. Names and meanings are those of
Kafka's Java clients. Times are in milliseconds, sizes in bytes. Unknown names are refused.

For the other settings of Java's clients see [migration](migration.md#from-javas-clients): which are
ignored, and which are refused.
"""

_SECTIONS: tuple[tuple[str, type[SecuritySettings], type | None], ...] = (
    ("Every client", ClientSettings, SecuritySettings),
    ("TLS and logins", SecuritySettings, None),
    ("Producers", ProducerSettings, ClientSettings),
    ("Consumers", ConsumerSettings, ClientSettings),
    ("Admin clients", AdminSettings, ClientSettings),
)

ABOUT: dict[str, str] = {
    "bootstrap_servers": "Addresses to begin with, as `host:port`. Brokers supply the others.",
    "client_id": "Name of the client in logs, metrics and quotas of brokers.",
    "request_timeout_ms": "How long to wait for the response to one request.",
    "retry_backoff_ms": "Pause before a request is sent again.",
    "reconnect_backoff_ms": "First pause before connecting to a broker again; it doubles.",
    "reconnect_backoff_max_ms": "Longest such pause.",
    "connections_max_idle_ms": "Connections that are idle for longer are closed.",
    "send_buffer_bytes": "Send buffer of a socket; -1 leaves it to the system.",
    "receive_buffer_bytes": "Receive buffer of a socket; -1 leaves it to the system.",
    "client_dns_lookup": "`use_all_dns_ips` or `default`; every address of a name is tried.",
    "metadata_max_age_ms": "Metadata is requested again after this time, even without a change.",
    "socket_connection_setup_timeout_ms": "How long a connection may take to open.",
    "metrics_sample_window_ms": "Period over which rates are measured.",
    "security_protocol": "`PLAINTEXT`, `SSL`, `SASL_PLAINTEXT` or `SASL_SSL`, as the listener.",
    "sasl_mechanism": "`PLAIN`, `SCRAM-SHA-256`, `SCRAM-SHA-512` or `OAUTHBEARER`.",
    "sasl_username": "User for PLAIN and SCRAM, or the id of a delegation token.",
    "sasl_password": "Password for PLAIN and SCRAM, or the secret of a delegation token.",
    "sasl_tokenauth": "Whether user and password are those of a delegation token.",
    "sasl_jaas_config": "User, password and the like as Java's clients write them.",
    "sasl_oauthbearer_token": "A bearer token.",
    "sasl_oauthbearer_token_provider": "Function that returns a bearer token, one per connection.",
    "sasl_oauthbearer_token_endpoint_url": "Where tokens are fetched with client id and secret.",
    "sasl_oauthbearer_client_credentials_client_id": "Client id for that endpoint.",
    "sasl_oauthbearer_client_credentials_client_secret": "Client secret for that endpoint.",
    "sasl_oauthbearer_scope": "Scope for that endpoint.",
    "sasl_oauthbearer_extensions": "Extensions that are sent with a token.",
    "ssl_truststore_location": "File with the authorities to trust; else those of the system.",
    "ssl_truststore_password": "Its password.",
    "ssl_truststore_type": "`PEM`, `PKCS12` or `JKS`; without it, read from the file.",
    "ssl_truststore_certificates": "The authorities themselves, as PEM, instead of a file.",
    "ssl_keystore_location": "File with the certificate and key of the client.",
    "ssl_keystore_password": "Its password.",
    "ssl_keystore_type": "`PEM`, `PKCS12` or `JKS`; without it, read from the file.",
    "ssl_keystore_key": "The key itself, as PEM, instead of a file.",
    "ssl_keystore_certificate_chain": "The certificate itself, as PEM, instead of a file.",
    "ssl_key_password": "Password of the key.",
    "ssl_endpoint_identification_algorithm": (
        "`https` compares the name in the broker's certificate with its address; empty does not."
    ),
    "ssl_enabled_protocols": "Versions of TLS.",
    "ssl_cipher_suites": "Cipher suites, by their names in Java; empty for the usual ones.",
    "acks": "`all`: stored on all replicas in sync. `1`: on the leader. `0`: not waited for.",
    "enable_idempotence": "Whether brokers drop repeated batches: each record is stored once.",
    "max_in_flight_requests_per_connection": (
        "Requests to a broker without a response; at most 5 with idempotence."
    ),
    "batch_size": "A batch of one partition is sent when it has this size.",
    "linger_ms": "How long a batch waits for more records.",
    "buffer_memory": "Memory for records that are not sent yet; `send` waits when it is full.",
    "max_request_size": "Largest record and request.",
    "compression_type": "`none`, `gzip`, `snappy`, `lz4` or `zstd`.",
    "compression_gzip_level": "-1 to 9.",
    "compression_lz4_level": "1 to 17.",
    "compression_zstd_level": "-131072 to 22.",
    "max_block_ms": "How long `send` waits for metadata and for memory.",
    "delivery_timeout_ms": "How long a record may take, with all retries.",
    "retries": "How often to retry. A limit in time is better: `delivery.timeout.ms`.",
    "transactional_id": "Name under which a restarted producer continues; it fences the last one.",
    "transaction_timeout_ms": "The coordinator aborts transactions that are open for longer.",
    "group_id": "Group whose members share the partitions.",
    "group_instance_id": "Name of a member that keeps its partitions through a restart.",
    "group_protocol": "`classic`, or `consumer` for KIP-848.",
    "group_remote_assignor": "Assignor of the broker, with KIP-848.",
    "client_rack": "Rack of the client: brokers may send it to a replica there.",
    "session_timeout_ms": "A member that sends no heartbeat for this time is removed.",
    "heartbeat_interval_ms": "Time between heartbeats.",
    "max_poll_interval_ms": "A member that does not poll for this time leaves the group.",
    "max_poll_records": "Most records that one poll returns.",
    "partition_assignment_strategy": (
        "`range`, `roundrobin`, `sticky` or `cooperative-sticky`; the first that all members have."
    ),
    "enable_auto_commit": "Whether offsets are committed periodically.",
    "auto_commit_interval_ms": "Time between these commits.",
    "auto_offset_reset": (
        "Where to begin without a committed offset: `earliest`, `latest`, or `none` for an error."
    ),
    "isolation_level": "`read_committed` leaves out what transactions have not committed.",
    "fetch_min_bytes": "The broker waits until it has this many bytes.",
    "fetch_max_bytes": "Most bytes in one response.",
    "fetch_max_wait_ms": "How long the broker waits for `fetch.min.bytes`.",
    "max_partition_fetch_bytes": "Most bytes of one partition in a response.",
    "default_api_timeout_ms": "How long a call may take, with all retries.",
    "exclude_internal_topics": "Whether patterns leave out the topics of the brokers themselves.",
    "check_crcs": "Whether checksums of batches are checked.",
    "allow_auto_create_topics": "Whether brokers may create a topic because it is subscribed to.",
}


def reference() -> Iterator[str]:
    """The lines of the page."""
    yield from _INTRODUCTION.splitlines()
    for title, kind, base in _SECTIONS:
        yield from ("", f"## {title}", "", "| Setting | Default | |", "| --- | --- | --- |")
        known = {each.name: each.default for each in fields(base)} if base else {}
        for each in fields(kind):
            if each.name not in known or known[each.name] != each.default:
                yield f"| `{dotted(each.name)}` | {_default(each)} | {ABOUT[each.name]} |"


def _default(field: "Field[object]") -> str:
    match field.default:
        case value if value is MISSING:
            return "must be set"
        case None | "":
            return ""
        case bool() as value:
            return str(value).lower()
        case -1 if field.name == "acks":
            return "all"
        case value:
            return f"{value}"


def main() -> None:
    """Print the page."""
    sys.stdout.writelines(f"{line}\n" for line in reference())


if __name__ == "__main__":
    main()
