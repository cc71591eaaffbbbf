"""Settings of clients, with Kafka's names: `linger_ms=5` or `{"linger.ms": "5"}`."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import TypeVar

from moldau.client.java_settings import leave_out
from moldau.client.security_settings import SecuritySettings
from moldau.config.suggestion import unknown
from moldau.config.values import INT_MAX, ConfigType, config_error, invalid, parse
from moldau.records import gzip_members, lz4
from moldau.records.compression import ZSTD_LEVEL_DEFAULT, Codec

ACKS_ALL = -1
ACKS_NONE = 0
IDEMPOTENT_IN_FLIGHT_MAX = 5  # brokers remember so many batches of a producer

SYSTEMS_OWN = -1
"""Buffers of sockets as large as the system finds right."""

_MAY_BE_NEGATIVE = (
    "acks",
    "compression_gzip_level",
    "compression_zstd_level",
    "connections_max_idle_ms",
    "receive_buffer_bytes",
    "send_buffer_bytes",
)
_LEVELS = {  # KIP-390
    "compression_gzip_level": range(-1, 10),
    "compression_lz4_level": range(1, 18),
    "compression_zstd_level": range(-131_072, 23),
}

_LOOKUPS = ("use_all_dns_ips", "default")  # canonical names are for Kerberos

Settings = TypeVar("Settings", bound="ClientSettings")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSettings(SecuritySettings):
    """What every client has; times are in milliseconds, sizes in bytes."""

    bootstrap_servers: str | Iterable[str]
    client_id: str = "moldau"
    request_timeout_ms: int = 30_000
    retry_backoff_ms: int = 100
    reconnect_backoff_ms: int = 50
    reconnect_backoff_max_ms: int = 1_000
    connections_max_idle_ms: int = 540_000
    send_buffer_bytes: int = SYSTEMS_OWN
    receive_buffer_bytes: int = SYSTEMS_OWN
    client_dns_lookup: str = "use_all_dns_ips"
    metadata_max_age_ms: int = 300_000
    socket_connection_setup_timeout_ms: int = 10_000
    metrics_sample_window_ms: int = 30_000

    @property
    def start_timeout_ms(self) -> int:
        """How long a client that starts waits for a broker to come up."""
        return self.request_timeout_ms

    def check(self) -> None:
        """Raise InvalidConfig for values that cannot be."""
        self.check_security()
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, int) and value < 0 and field.name not in _MAY_BE_NEGATIVE:
                raise invalid(dotted(field.name), value, "0 or more")
        for name in ("send_buffer_bytes", "receive_buffer_bytes"):
            if getattr(self, name) < SYSTEMS_OWN:
                raise invalid(dotted(name), getattr(self, name), f"{SYSTEMS_OWN} or more")
        if self.client_dns_lookup not in _LOOKUPS:
            raise invalid("client.dns.lookup", self.client_dns_lookup, " or ".join(_LOOKUPS))


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerSettings(ClientSettings):
    """What a producer has beside that."""

    acks: int | str = ACKS_ALL
    enable_idempotence: bool = True
    max_in_flight_requests_per_connection: int = 5
    batch_size: int = 16_384
    linger_ms: int = 0
    buffer_memory: int = 32 << 20
    max_request_size: int = 1 << 20
    compression_type: str = "none"
    compression_gzip_level: int = gzip_members.LEVEL_DEFAULT
    compression_lz4_level: int = lz4.LEVEL_DEFAULT
    compression_zstd_level: int = ZSTD_LEVEL_DEFAULT
    max_block_ms: int = 60_000
    delivery_timeout_ms: int = 120_000
    retries: int = INT_MAX
    transactional_id: str = ""
    transaction_timeout_ms: int = 60_000

    @property
    def start_timeout_ms(self) -> int:
        return self.max_block_ms

    @property
    def codec(self) -> Codec:
        """How batches are compressed."""
        return Codec[self.compression_type.upper()]

    @property
    def compression_level(self) -> int | None:
        """How hard to compress; None for codecs that have no levels."""
        levels = {
            Codec.GZIP: self.compression_gzip_level,
            Codec.LZ4: self.compression_lz4_level,
            Codec.ZSTD: self.compression_zstd_level,
        }
        return levels.get(self.codec)

    @property
    def required_acks(self) -> int:
        """The number that Produce requests carry."""
        return ACKS_ALL if self.acks == "all" else int(self.acks)

    def check(self) -> None:
        super(ProducerSettings, self).check()
        if str(self.acks) not in ("all", "-1", "0", "1"):
            raise invalid("acks", self.acks, "all, 1 or 0")
        if self.compression_type.upper() not in Codec.__members__:
            names = ", ".join(codec.name.lower() for codec in Codec)
            raise invalid("compression.type", self.compression_type, f"one of {names}")
        for name, levels in _LEVELS.items():
            if getattr(self, name) not in levels:
                allowed = f"from {levels[0]} to {levels[-1]}"
                raise invalid(dotted(name), getattr(self, name), allowed)
        if self.max_in_flight_requests_per_connection < 1:
            raise invalid("max.in.flight.requests.per.connection", 0, "1 or more")
        if self.delivery_timeout_ms < self.linger_ms + self.request_timeout_ms:
            allowed = "at least linger.ms + request.timeout.ms"
            raise invalid("delivery.timeout.ms", self.delivery_timeout_ms, allowed)
        if self.enable_idempotence:
            self._check_idempotence()
        elif self.transactional_id:
            raise invalid("enable.idempotence", False, "true, since transactional.id is set")

    def _check_idempotence(self) -> None:
        if self.required_acks != ACKS_ALL:
            raise invalid("acks", self.acks, "all, or set enable.idempotence to false")
        if self.max_in_flight_requests_per_connection > IDEMPOTENT_IN_FLIGHT_MAX:
            raise invalid(
                "max.in.flight.requests.per.connection",
                self.max_in_flight_requests_per_connection,
                f"at most {IDEMPOTENT_IN_FLIGHT_MAX}, or set enable.idempotence to false",
            )
        if self.retries == 0:
            raise invalid("retries", 0, "1 or more, or set enable.idempotence to false")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerSettings(ClientSettings):
    """What a consumer has beside that."""

    group_id: str = ""
    group_instance_id: str = ""
    group_protocol: str = "classic"
    group_remote_assignor: str = ""
    client_rack: str = ""
    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 3_000
    max_poll_interval_ms: int = 300_000
    max_poll_records: int = 500
    partition_assignment_strategy: str = "range"
    enable_auto_commit: bool = True
    auto_commit_interval_ms: int = 5_000
    auto_offset_reset: str = "latest"
    isolation_level: str = "read_uncommitted"
    fetch_min_bytes: int = 1
    fetch_max_bytes: int = 52_428_800
    fetch_max_wait_ms: int = 500
    max_partition_fetch_bytes: int = 1_048_576
    default_api_timeout_ms: int = 60_000
    exclude_internal_topics: bool = True
    check_crcs: bool = True
    allow_auto_create_topics: bool = True

    @property
    def start_timeout_ms(self) -> int:
        return self.default_api_timeout_ms

    def check(self) -> None:
        super(ConsumerSettings, self).check()
        choices = {
            "auto_offset_reset": ("earliest", "latest", "none"),
            "group_protocol": ("classic", "consumer"),
            "isolation_level": ("read_uncommitted", "read_committed"),
        }
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise invalid(dotted(name), getattr(self, name), f"one of {', '.join(allowed)}")
        if self.max_poll_records < 1:
            raise invalid("max.poll.records", self.max_poll_records, "1 or more")
        if self.heartbeat_interval_ms >= self.session_timeout_ms:
            allowed_interval = "less than session.timeout.ms"
            raise invalid("heartbeat.interval.ms", self.heartbeat_interval_ms, allowed_interval)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminSettings(ClientSettings):
    """What an admin client has beside that."""

    connections_max_idle_ms: int = 300_000
    default_api_timeout_ms: int = 60_000
    retries: int = INT_MAX

    @property
    def start_timeout_ms(self) -> int:
        return self.default_api_timeout_ms


def read_settings(
    kind: type[Settings], mapping: Mapping[str, object] | None, keywords: Mapping[str, object]
) -> Settings:
    """Settings from Kafka's dotted names and from keywords; a name may come once.

    Texts are read as Kafka reads them where a setting is a number or a boolean.
    """
    values: dict[str, object] = {}
    known = {field.name: field for field in fields(kind)}
    dotted_names = {dotted(name): name for name in known}
    for name, value in (mapping or {}).items():
        if name in dotted_names:
            values[dotted_names[name]] = value
        elif not leave_out(name, value):
            raise unknown("client", name, dotted_names)
    for name, value in keywords.items():
        if name in values:
            raise config_error(f"{name} is given as {dotted(name)} too")
        if name in known:
            values[name] = value
        elif not leave_out(dotted(name), value):
            raise unknown("client", name, known)
    for name, field in known.items():
        if name not in values and field.default is MISSING:
            raise config_error(f"{dotted(name)} is missing")
    make: Callable[..., Settings] = kind
    settings = make(
        **{name: _typed(name, value, known[name].default) for name, value in values.items()}
    )
    settings.check()
    return settings


def dotted(name: str) -> str:
    """Kafka's name of a setting."""
    return name.replace("_", ".")


def _typed(name: str, value: object, default: object) -> object:
    """The value in the type of its default."""
    if isinstance(default, bool):
        value = parse(dotted(name), ConfigType.BOOLEAN, value) if isinstance(value, str) else value
        return _expect(name, value, bool, "true or false")
    if isinstance(default, int) and name != "acks":
        value = parse(dotted(name), ConfigType.LONG, value) if isinstance(value, str) else value
        is_number = isinstance(value, int) and not isinstance(value, bool)
        return _expect(name, value if is_number else None, int, "a whole number")
    if isinstance(default, str):
        return _expect(name, value, str, "a text")
    return value


def _expect(name: str, value: object, kind: type, allowed: str) -> object:
    if not isinstance(value, kind):
        raise invalid(dotted(name), value, allowed)
    return value
