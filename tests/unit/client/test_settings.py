"""Settings by keyword and by Kafka's names."""

import pytest

from moldau.client.settings import (
    ClientSettings,
    ConsumerSettings,
    ProducerSettings,
    dotted,
    read_settings,
)
from moldau.errors import InvalidConfig
from moldau.records.compression import Codec

SERVERS = {"bootstrap.servers": "a:1"}


def test_keywords_and_dotted_names_mean_the_same() -> None:
    by_mapping = read_settings(ProducerSettings, {**SERVERS, "linger.ms": "5"}, {})
    by_keyword = read_settings(ProducerSettings, None, {"bootstrap_servers": "a:1", "linger_ms": 5})
    assert by_mapping == by_keyword


def test_texts_are_read_as_kafka_reads_them() -> None:
    texts = {**SERVERS, "enable.idempotence": "FALSE", "acks": "1", "batch.size": " 7 "}
    settings = read_settings(ProducerSettings, texts, {})
    assert not settings.enable_idempotence
    assert settings.required_acks == 1
    assert settings.batch_size == 7


def test_an_unknown_name_is_an_error_that_suggests_the_right_one() -> None:
    with pytest.raises(InvalidConfig, match=r"lingerms; did you mean linger_ms\?"):
        read_settings(ProducerSettings, SERVERS, {"lingerms": 5})
    with pytest.raises(InvalidConfig, match=r"did you mean linger\.ms\?"):
        read_settings(ProducerSettings, {**SERVERS, "linger.mss": 5}, {})


def test_a_setting_comes_once() -> None:
    with pytest.raises(InvalidConfig, match=r"linger\.ms too"):
        read_settings(ProducerSettings, {**SERVERS, "linger.ms": 5}, {"linger_ms": 5})


def test_the_servers_must_be_given() -> None:
    with pytest.raises(InvalidConfig, match=r"bootstrap\.servers is missing"):
        read_settings(ClientSettings, {}, {})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("linger_ms", -1),
        ("linger_ms", 1.5),
        ("linger_ms", True),
        ("linger_ms", "soon"),
        ("client_id", 5),
        ("enable_idempotence", 1),
        ("acks", 2),
        ("acks", 1),
        ("compression_type", "brotli"),
        ("compression_gzip_level", -2),
        ("compression_lz4_level", 18),
        ("compression_zstd_level", 23),
        ("max_in_flight_requests_per_connection", 0),
        ("max_in_flight_requests_per_connection", 6),
        ("delivery_timeout_ms", 29_999),
        ("retries", 0),
    ],
)
def test_a_value_that_cannot_be_is_an_error_that_names_the_setting(
    name: str, value: object
) -> None:
    with pytest.raises(InvalidConfig, match=dotted(name)):
        read_settings(ProducerSettings, SERVERS, {name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("auto_offset_reset", "begin"),
        ("isolation_level", "serializable"),
        ("max_poll_records", 0),
        ("heartbeat_interval_ms", 45_000),
        ("send_buffer_bytes", -2),
        ("client_dns_lookup", "resolve_canonical_bootstrap_servers_only"),
    ],
)
def test_a_consumer_refuses_values_that_cannot_be(name: str, value: object) -> None:
    with pytest.raises(InvalidConfig, match=dotted(name)):
        read_settings(ConsumerSettings, SERVERS, {name: value})


def test_a_codec_is_found_by_its_name() -> None:
    settings = read_settings(ProducerSettings, SERVERS, {"compression_type": "zstd"})
    assert settings.codec is Codec.ZSTD


def test_levels_belong_to_codecs() -> None:
    levels = {"compression_gzip_level": -1, "compression_zstd_level": -5}
    for codec, level in {"gzip": -1, "zstd": -5, "lz4": 9, "snappy": None}.items():
        options = {"compression_type": codec, **levels}
        assert read_settings(ProducerSettings, SERVERS, options).compression_level == level


def test_without_idempotence_all_acks_and_more_in_flight_are_allowed() -> None:
    options = {
        "enable_idempotence": False,
        "acks": 0,
        "max_in_flight_requests_per_connection": 50,
    }
    assert read_settings(ProducerSettings, SERVERS, options).required_acks == 0


def test_a_consumer_has_defaults_that_fit_together() -> None:
    assert read_settings(ConsumerSettings, SERVERS, {}).auto_offset_reset == "latest"


def test_transactions_need_idempotence() -> None:
    with pytest.raises(InvalidConfig, match=r"enable\.idempotence"):
        read_settings(
            ProducerSettings, SERVERS, {"transactional_id": "x", "enable_idempotence": False}
        )
