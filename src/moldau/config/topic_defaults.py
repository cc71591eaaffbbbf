"""A topic's settings where it has none of its own: the broker's."""

from moldau.config.broker.broker import BrokerConfig
from moldau.config.rules import Value
from moldau.config.synonyms import TOPIC_SYNONYMS, Synonym
from moldau.config.topic import TopicConfig, topic_settings


def topic_defaults(config: BrokerConfig) -> TopicConfig:
    """What a topic without settings of its own does on a broker with these."""
    settings = topic_settings()
    values = {
        settings[name].attribute: _first_value(config, synonyms)
        for name, synonyms in TOPIC_SYNONYMS.items()
    }
    retention_ms = values["retention_ms"]
    # Kafka takes any negative age as no limit, but only knows -1 from there on.
    values["retention_ms"] = (
        -1 if isinstance(retention_ms, int) and retention_ms < 0 else retention_ms
    )
    # The types agree: a topic setting and its synonyms are declared alike.
    return TopicConfig(**values)  # type: ignore[arg-type]


def _first_value(config: BrokerConfig, synonyms: tuple[Synonym, ...]) -> Value:
    for name, factor in synonyms:
        value = config.value(name)
        if value is not None:
            return value * factor if isinstance(value, int) and factor != 1 else value
    raise AssertionError(f"the last of {synonyms} has no default")
