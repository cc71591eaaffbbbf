"""Settings of topics as a file lists them, for a broker that is to have these topics.

The file is what `kafka-configs.sh --describe --entity-type topics` prints, with `--all` or
without, in the layout of Kafka 2.5 and newer or of `--zookeeper` before:

    Dynamic configs for topic orders are:
      retention.ms=-1 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:retention.ms=-1}
    Configs for topic 'orders' are retention.ms=-1,cleanup.policy=compact,delete

or JSON: what `--format json` prints here, or `{"orders": {"retention.ms": "-1"}}`.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from moldau.config.topic import TopicConfig, topic_settings
from moldau.config.values import config_error, to_text
from moldau.errors import KafkaError

_HEADLINE = re.compile(r"(?:Dynamic|All) configs for topic (\S+) are:")
_SETTING = re.compile(r"\s+([^=\s]+)=(.*) sensitive=(?:true|false) synonyms=\{(.*)\}")
_OLD_LINE = re.compile(r"Configs for topic '([^']+)' are ?(.*)")
_OLD_COMMA = re.compile(r",(?=[a-z][a-z.]*=)")
_OWN = "DYNAMIC_TOPIC_CONFIG:"
_OWN_IN_JSON = "TOPIC"

# What decides which records stay and what they look like. How many replicas there are to be,
# and how files are written, is the business of the new broker.
_BROUGHT = (
    "cleanup.policy",
    "compression.type",
    "delete.retention.ms",
    "max.compaction.lag.ms",
    "max.message.bytes",
    "message.timestamp.after.max.ms",
    "message.timestamp.before.max.ms",
    "message.timestamp.difference.max.ms",
    "message.timestamp.type",
    "min.compaction.lag.ms",
    "retention.bytes",
    "retention.ms",
)


@dataclass(slots=True)
class ListedTopic:
    """The settings of a topic on its old broker."""

    own: dict[str, str] = field(default_factory=dict)
    inherited: dict[str, str] = field(default_factory=dict)
    """What counted because the broker, or Kafka, had it so."""

    def overrides(self, defaults: TopicConfig) -> dict[str, str]:
        """The settings of its own that it needs on a broker with these defaults.

        What it inherited becomes its own where it would be different here: a broker with
        `log.retention.hours=-1` has topics without the setting.
        """
        settings = topic_settings()
        different = {
            name: text
            for name, text in self.inherited.items()
            if name in _BROUGHT
            and settings[name].parse(text) != getattr(defaults, settings[name].attribute)
        }
        return different | self.own


def parse_topics(text: str) -> dict[str, ListedTopic]:
    """The topics in a file by their names; InvalidConfig says which line is not understood."""
    topics = _parse_json(text) if text.lstrip()[:1] in ("{", "[") else _parse_lines(text)
    if not topics:
        raise config_error("no topic is listed")
    return topics


def check_topics(topics: Mapping[str, ListedTopic], defaults: TopicConfig) -> None:
    """Raise InvalidConfig, with the topic's name, for what cannot be set here."""
    for name, topic in topics.items():
        try:
            defaults.with_overrides(topic.overrides(defaults))
        except KafkaError as error:
            raise config_error(f"topic {name}: {error}") from error


def _parse_lines(text: str) -> dict[str, ListedTopic]:
    topics: dict[str, ListedTopic] = {}
    latest: ListedTopic | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        setting, old = _SETTING.fullmatch(line), _OLD_LINE.fullmatch(line)
        if not line.strip():
            continue
        if headline := _HEADLINE.fullmatch(line.rstrip()):
            latest = _add(topics, headline[1])
        elif old:
            latest = None
            _add(topics, old[1]).own.update(_pairs(old[2], number))
        elif setting and latest is not None:
            place = latest.own if setting[3].startswith(_OWN) else latest.inherited
            place[setting[1]] = setting[2]
        else:
            raise config_error(
                f"line {number} is not what kafka-configs.sh --describe --entity-type topics "
                f"prints: {line.strip()[:80]}"
            )
    return topics


def _pairs(text: str, number: int) -> Iterable[tuple[str, str]]:
    for pair in _OLD_COMMA.split(text) if text else ():
        name, equals, value = pair.partition("=")
        if not equals:
            raise config_error(f"line {number}: {pair[:80]} is not a setting with its value")
        yield name, value


def _parse_json(text: str) -> dict[str, ListedTopic]:
    try:
        document = json.loads(text)
    except ValueError as error:
        raise config_error(f"not JSON: {error}") from error
    topics: dict[str, ListedTopic] = {}
    if isinstance(document, dict):
        for name, settings in document.items():
            own = _object(settings, f"topic {name}").items()
            _add(topics, name).own.update({key: _text(value, key) for key, value in own})
        return topics
    for entry in document:
        described = _object(entry, "an entry of the list")
        if described.get("type") != "topics":
            raise config_error(f"settings of {described.get('type')}, not of topics")
        topic = _add(topics, _text(described.get("name"), "name"))
        for key, said in _object(described.get("configs"), "configs").items():
            value = _object(said, key)
            place = topic.own if value.get("source") == _OWN_IN_JSON else topic.inherited
            place[key] = _text(value.get("value"), key)
    return topics


def _object(value: object, name: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise config_error(f"{name}: an object with settings is expected in JSON")
    return value


def _text(value: object, name: str) -> str:
    if not isinstance(value, str | int | float):
        raise config_error(f"{name}: a text or a number is expected in JSON")
    return value if isinstance(value, str) else to_text(value) or ""


def _add(topics: dict[str, ListedTopic], name: str) -> ListedTopic:
    if name in topics:
        raise config_error(f"topic {name} is listed twice")
    topics[name] = ListedTopic()
    return topics[name]
