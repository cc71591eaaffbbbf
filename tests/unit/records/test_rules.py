"""What a topic asks of produced records."""

import pytest

from moldau.config.topic import TopicConfig
from moldau.records.compression import Codec
from moldau.records.rules import UNLIMITED_MS, ProduceRules


def test_a_topic_without_settings_has_the_default_rules() -> None:
    assert ProduceRules.for_topic(TopicConfig()) == ProduceRules()


def test_every_setting_becomes_a_rule() -> None:
    config = TopicConfig().with_overrides(
        {
            "max.message.bytes": "1000",
            "segment.bytes": "2000",
            "cleanup.policy": "compact",
            "message.timestamp.type": "LogAppendTime",
            "message.timestamp.before.max.ms": "5",
            "message.timestamp.after.max.ms": "6",
        }
    )
    assert ProduceRules.for_topic(config) == ProduceRules(
        max_message_bytes=1000,
        segment_bytes=2000,
        is_compacted=True,
        is_log_append_time=True,
        timestamp_before_max_ms=5,
        timestamp_after_max_ms=6,
    )


@pytest.mark.parametrize(
    ("name", "codec", "level"),
    [
        ("producer", None, None),
        ("uncompressed", Codec.NONE, None),
        ("gzip", Codec.GZIP, 7),
        ("snappy", Codec.SNAPPY, None),
        ("lz4", Codec.LZ4, 12),
        ("zstd", Codec.ZSTD, 19),
    ],
)
def test_the_codec_comes_with_its_own_level(
    name: str, codec: Codec | None, level: int | None
) -> None:
    config = TopicConfig().with_overrides(
        {
            "compression.type": name,
            "compression.gzip.level": "7",
            "compression.lz4.level": "12",
            "compression.zstd.level": "19",
        }
    )
    rules = ProduceRules.for_topic(config)
    assert (rules.codec, rules.level) == (codec, level)


def test_timestamps_are_unlimited_by_default() -> None:
    rules = ProduceRules.for_topic(TopicConfig())
    assert rules.timestamp_before_max_ms == UNLIMITED_MS
    assert rules.timestamp_after_max_ms == UNLIMITED_MS


def test_decompression_is_bounded_by_the_message_size_and_never_below_64_mib() -> None:
    assert ProduceRules(max_message_bytes=1000).decompressed_max_bytes == 64 * 2**20
    assert ProduceRules(max_message_bytes=10**7).decompressed_max_bytes == 16 * 10**7
