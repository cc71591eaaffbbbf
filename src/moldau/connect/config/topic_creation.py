"""How topics of a source are made that are not there: `topic.creation.*` (KIP-158)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from moldau.connect.config.values import below, listed, number
from moldau.connect.errors import ConfigError

_PREFIX = "topic.creation."
_DEFAULT = "default"
_PARTITIONS, _REPLICATION = "partitions", "replication.factor"
_BY_BROKER = -1


@dataclass(frozen=True, slots=True)
class TopicRule:
    """What a group of topics is made with."""

    include: Sequence[re.Pattern[str]]
    exclude: Sequence[re.Pattern[str]]
    partitions: int
    replication_factor: int
    configs: Mapping[str, str]

    def covers(self, topic: str) -> bool:
        """By the whole name."""
        if any(each.fullmatch(topic) for each in self.exclude):
            return False
        return any(each.fullmatch(topic) for each in self.include)


def topic_rules(config: Mapping[str, str]) -> list[TopicRule]:
    """The groups in their order, the default last; none if it is left to the brokers."""
    if not any(name.startswith(_PREFIX) for name in config):
        return []
    numbers = {name: _number(config, _DEFAULT, name, None) for name in (_REPLICATION, _PARTITIONS)}
    names = listed(config, f"{_PREFIX}groups")
    if _DEFAULT in names:
        raise ConfigError(f"{_PREFIX}groups: {_DEFAULT} is always there")
    return [
        *(_rule(config, name, _patterns(config, name, "include"), numbers) for name in names),
        _rule(config, _DEFAULT, [re.compile(".*")], numbers),
    ]


def _rule(
    config: Mapping[str, str],
    name: str,
    include: Sequence[re.Pattern[str]],
    numbers: Mapping[str, int],
) -> TopicRule:
    own = below(config, f"{_PREFIX}{name}.")
    if not include:
        raise ConfigError(f"{_PREFIX}{name}.include: which topics?")
    known = {"include", "exclude", _PARTITIONS, _REPLICATION}
    return TopicRule(
        include,
        _patterns(config, name, "exclude"),
        _number(config, name, _PARTITIONS, numbers[_PARTITIONS]),
        _number(config, name, _REPLICATION, numbers[_REPLICATION]),
        {each: text for each, text in own.items() if each not in known},
    )


def _number(config: Mapping[str, str], group: str, name: str, default: int | None) -> int:
    full = f"{_PREFIX}{group}.{name}"
    if default is None and full not in config:
        raise ConfigError(f'Missing required configuration "{full}" which has no default value.')
    found = number(config, full, _BY_BROKER if default is None else default)
    if found < 1 and found != _BY_BROKER:
        raise ConfigError(
            f"Invalid value {found} for configuration {full}: it is at least 1, or -1 for what "
            "brokers have as their default"
        )
    return found


def _patterns(config: Mapping[str, str], group: str, word: str) -> list[re.Pattern[str]]:
    name = f"{_PREFIX}{group}.{word}"
    try:
        return [re.compile(each) for each in listed(config, name)]
    except re.error as error:
        raise ConfigError(f"{name}: {error}") from error
