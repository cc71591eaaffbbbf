"""What one topic asks of produced records, worked out once from its settings."""

from dataclasses import dataclass
from typing import Self

from moldau.config.topic import TopicConfig
from moldau.records.compression import Codec

UNLIMITED_MS = 2**63 - 1

_DECOMPRESSED_MIN_BYTES = 64 * 2**20
_DECOMPRESSED_FACTOR = 16
_STORED_CODECS = {
    "producer": None,
    "uncompressed": Codec.NONE,
    "gzip": Codec.GZIP,
    "snappy": Codec.SNAPPY,
    "lz4": Codec.LZ4,
    "zstd": Codec.ZSTD,
}


@dataclass(frozen=True, slots=True)
class ProduceRules:
    """The limits and choices of a topic; `codec` None keeps what the producer chose."""

    max_message_bytes: int = 1_048_588
    segment_bytes: int = 2**30
    is_compacted: bool = False
    is_log_append_time: bool = False
    timestamp_before_max_ms: int = UNLIMITED_MS
    timestamp_after_max_ms: int = UNLIMITED_MS
    codec: Codec | None = None
    level: int | None = None

    @classmethod
    def for_topic(cls, config: TopicConfig) -> Self:
        codec = _STORED_CODECS[config.compression_type]
        levels = {
            Codec.GZIP: config.compression_gzip_level,
            Codec.LZ4: config.compression_lz4_level,
            Codec.ZSTD: config.compression_zstd_level,
        }
        return cls(
            max_message_bytes=config.max_message_bytes,
            segment_bytes=config.segment_bytes,
            is_compacted=config.is_compacted,
            is_log_append_time=config.message_timestamp_type == "LogAppendTime",
            timestamp_before_max_ms=config.timestamp_before_limit_ms,
            timestamp_after_max_ms=config.timestamp_after_limit_ms,
            codec=codec,
            level=None if codec is None else levels.get(codec),
        )

    @property
    def decompressed_max_bytes(self) -> int:
        """How large the records of one batch may become when they are decompressed.

        Kafka has no bound. Producers limit a batch before they compress it, to about
        `max.message.bytes`, so that what grows far beyond it is not meant to be read.
        """
        return max(_DECOMPRESSED_MIN_BYTES, _DECOMPRESSED_FACTOR * self.max_message_bytes)
