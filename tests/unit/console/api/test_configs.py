"""Settings that are set come first, with what they would be otherwise."""

from moldau.client.admin.configs import ConfigEntry, ConfigSource, ConfigSynonym
from moldau.console.api.configs import entries


def entry(name: str, source: ConfigSource, *synonyms: ConfigSynonym) -> ConfigEntry:
    return ConfigEntry(name, "1", source, False, False, list(synonyms), "what it does")


def test_a_value_of_the_topic_shows_its_default() -> None:
    own = ConfigSynonym("b", "1", ConfigSource.TOPIC)
    other = ConfigSynonym("log.b", "2", ConfigSource.STATIC_BROKER)
    last = ConfigSynonym("log.b", "3", ConfigSource.DEFAULT)
    first, second = entries(
        {
            "a": entry("a", ConfigSource.DEFAULT),
            "b": entry("b", ConfigSource.TOPIC, own, other, last),
        }
    )
    assert (first["name"], first["is_set"], first["default"]) == ("b", True, "2")
    assert (second["name"], second["is_set"], second["default"]) == ("a", False, "1")
    assert first["source"] == "topic"
    assert first["documentation"] == "what it does"


def test_a_default_that_is_not_said_is_none() -> None:
    (found,) = entries({"a": entry("a", ConfigSource.TOPIC)})
    assert found["default"] is None
