"""Settings that stand for one another."""

from moldau.config.broker.broker import broker_settings
from moldau.config.synonyms import TOPIC_SYNONYMS, base_name, broker_synonyms, unit_synonyms
from moldau.config.topic import topic_settings
from unit.config.conftest import Table


def test_a_topics_settings_have_the_synonyms_of_apache_kafka(apache_topic_settings: Table) -> None:
    ours = {
        name: ",".join(f"{s.name}:{s.factor}" for s in TOPIC_SYNONYMS.get(name, ()))
        for name in topic_settings()
    }
    theirs = {name: row["synonyms"] for name, row in apache_topic_settings.items()}
    assert ours == theirs


def test_every_synonym_is_a_broker_setting() -> None:
    for synonyms in TOPIC_SYNONYMS.values():
        for synonym in synonyms:
            assert synonym.name in broker_settings()


def test_a_listener_setting_falls_back_to_the_general_one() -> None:
    name = "listener.name.external.ssl.keystore.location"
    assert broker_synonyms(name) == (name, "ssl.keystore.location")
    assert base_name("ssl.keystore.location") == "ssl.keystore.location"


def test_a_mechanism_in_the_name_is_no_part_of_the_setting() -> None:
    assert base_name("listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config") == "sasl.jaas.config"


def test_units_of_one_setting_are_synonyms_the_finest_first() -> None:
    chain = ("log.retention.ms", "log.retention.minutes", "log.retention.hours")
    assert unit_synonyms("log.retention.hours") == chain
    assert unit_synonyms("log.flush.scheduler.interval.ms") == ("log.flush.scheduler.interval.ms",)
    assert unit_synonyms("broker.id") == ("broker.id",)
