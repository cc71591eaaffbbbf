"""The reference of all settings as a page: `python -m moldau.config.reference`."""

import sys
from collections.abc import Callable, Iterable, Iterator
from inspect import cleandoc
from typing import TYPE_CHECKING

from moldau.config.broker.broker import STANDALONE_DEFAULTS, broker_areas
from moldau.config.broker.dynamic import ThrottleConfig
from moldau.config.client_quotas import AddressQuotas, ClientQuotas
from moldau.config.definition import Area, Setting, settings_of
from moldau.config.synonyms import TOPIC_SYNONYMS
from moldau.config.topic import TopicConfig

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_INTRODUCTION = """\
# Configuration

<!-- Written by `python -m moldau.config.reference`; change the declarations, not this page. -->

Names, types and defaults are those of Apache Kafka 3.9 in ZooKeeper mode; names that begin
with `moldau.` exist only here. A broker reads them from its properties file and from
`--override key=value`. `kafka-configs.sh` or any admin client changes settings of topics while it
runs, and those of brokers unless their *update* column says read-only.

A value that is not allowed is refused with its name, the value and what is allowed. A topic
refuses a name that is not known. In a broker's file such a name is only reported, since Kafka's
plug-ins may have settings there.

- **Data.** Where neither `log.dirs` nor `log.dir` is set, `moldau serve` and
  `bin/kafka-server-start.sh` keep data in `$XDG_DATA_HOME/moldau`, which is
  `~/.local/share/moldau`. Kafka's `/tmp/kafka-logs` is emptied when the machine starts.
- **Addresses.** Without a file, `moldau serve` listens on `localhost:9092` alone, both of IPv4 and
  IPv6, unless `listeners`, `advertised.listeners` or `zookeeper.connect` is set. `--host 0.0.0.0`
  lets others in.
- **Metrics** have no setting but the options `--metrics-port` and `--metrics-host`: see
  [monitoring](monitoring.md).

Without `zookeeper.connect` a broker runs alone on its embedded store, and these defaults differ:
"""


_TITLES = {
    "general": "Broker",
    "network": "Listeners and connections",
    "limits": "Limits that Kafka does not have",
    "log": "Logs",
    "cleaner": "Compaction",
    "replication": "Replication",
    "groups": "Groups and offsets",
    "share": "Share groups",
    "transactions": "Transactions",
    "zookeeper": "ZooKeeper",
    "security": "Authorization and secrets",
    "tls": "TLS",
    "sasl": "SASL",
    "quotas": "Measuring quotas",
    "metrics": "Metrics",
    "remote": "Tiered storage",
    "kraft": "KRaft",
}


def reference() -> Iterator[str]:
    """The lines of the page."""
    yield from _INTRODUCTION.splitlines()
    yield ""
    yield from (f"- `{name}`: {value}" for name, value in STANDALONE_DEFAULTS.items())
    yield from _section("Topics", TopicConfig, "broker setting", _broker_names)
    for name, area in broker_areas().items():
        yield from _section(_TITLES[name], area, "update", _update_mode)
    yield from _section("Replication throttles (dynamic only)", ThrottleConfig)
    yield from _section("Quotas of users and clients (dynamic only)", ClientQuotas)
    yield from _section("Quotas of addresses (dynamic only)", AddressQuotas)


def _section(
    title: str,
    area: "type[Area | DataclassInstance]",
    extra_title: str = "",
    extra: Callable[[Setting], str] | None = None,
) -> Iterator[str]:
    """A table of settings; `extra` fills a column of its own."""
    yield from ("", f"## {title}", "", *cleandoc(area.__doc__ or "").splitlines(), "")
    columns = ["name", "type", "default", "allowed", extra_title, "meaning"]
    if extra is None:
        columns.remove(extra_title)
    yield _row(columns)
    yield _row(["---"] * len(columns))
    for setting in settings_of(area).values():
        if not setting.is_internal:
            cells = _cells(setting)
            yield _row([*cells, *([extra(setting)] if extra else []), setting.doc])


def _cells(setting: Setting) -> list[str]:
    default = setting.default_text
    shown = {None: "none", "": "empty"}.get(default, f"`{default}`")
    allowed = setting.rule.allowed if setting.rule else ""
    return [f"`{setting.name}`", setting.type.name.lower(), shown, allowed]


def _broker_names(setting: Setting) -> str:
    return ", ".join(f"`{synonym.name}`" for synonym in TOPIC_SYNONYMS.get(setting.name, ()))


def _update_mode(setting: Setting) -> str:
    return str(setting.update)


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Write the page to standard output."""
    sys.stdout.writelines(f"{line}\n" for line in reference())


if __name__ == "__main__":
    main()
