"""Which names are taken: lists of Java's regular expressions, for whole names."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from moldau.connect.config.values import listed
from moldau.connect.errors import ConfigError

TOPICS_EXCLUDE = r".*[\-\.]internal,.*\.replica,__.*"
GROUPS_EXCLUDE = "console-consumer-.*,connect-.*,__.*"
PROPERTIES_EXCLUDE = (
    r"follower\.replication\.throttled\.replicas,leader\.replication\.throttled\.replicas,"
    r"message\.timestamp\.difference\.max\.ms,message\.timestamp\.type,"
    r"unclean\.leader\.election\.enable,min\.insync\.replicas"
)


@dataclass(frozen=True, slots=True)
class NameFilter:
    """Excluding comes first."""

    included: re.Pattern[str]
    excluded: re.Pattern[str]

    @classmethod
    def of(cls, config: Mapping[str, str], name: str, exclude: str) -> "NameFilter":
        """The lists `name` and `name.exclude`, formerly `name.blacklist`."""
        given = {name: config.get(name, ".*")}
        older, newer = f"{name}.blacklist", f"{name}.exclude"
        chosen = newer if newer in config or older not in config else older
        given[chosen] = config.get(chosen, exclude)
        return cls(_pattern(given, name), _pattern(given, chosen))

    def takes(self, name: str) -> bool:
        """Whether it is in the one list, and not in the other."""
        return bool(self.included.fullmatch(name)) and not self.excluded.fullmatch(name)


def excluded_properties(config: Mapping[str, str]) -> re.Pattern[str]:
    """Settings of topics that stay as they are."""
    name, older = "config.properties.exclude", "config.properties.blacklist"
    chosen = name if name in config or older not in config else older
    return _pattern({chosen: config.get(chosen, PROPERTIES_EXCLUDE)}, chosen)


def _pattern(config: Mapping[str, str], name: str) -> re.Pattern[str]:
    parts = listed(config, name)
    try:
        # Without parts it takes nothing at all.
        return re.compile("|".join(f"(?:{each})" for each in parts) if parts else r"(?!)")
    except re.error as error:
        raise ConfigError(f"{name}: {config[name]} is no pattern: {error}") from error
