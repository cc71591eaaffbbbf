"""What is wrong with a connector's settings, found without starting it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from moldau.connect.config.topic_creation import topic_rules
from moldau.connect.config.validation import SOURCE, validate
from moldau.connect.config.values import listed
from moldau.connect.converters.lookup import HEADER, KEY, VALUE, converters_of
from moldau.connect.errors import ConfigError, ConnectError
from moldau.connect.worker.plugins import Plugin, Plugins
from moldau.connect.worker.restarts import RESTARTS_MAX
from moldau.connect.worker.settings import WorkerSettings

ERROR, WARNING = "error", "warning"
# Settings that belong to whatever stands behind the dot.
_OPEN = (
    *(f"{role}." for role in (KEY, VALUE, HEADER)),
    *("producer.override.", "consumer.override.", "admin.override."),
    *("topic.creation.", "iceberg.catalog.", "storage.", "option."),
)
_STEPS = ("transforms", "predicates")
_ALWAYS = (
    "connector.class",
    "name",
    "topics",
    "topics.regex",
    "task.class",
    "engine",
    RESTARTS_MAX,
)


@dataclass(frozen=True, slots=True)
class LintFinding:
    """One thing that is wrong, or may be."""

    connector: str
    level: str
    text: str

    def __str__(self) -> str:
        return f"{self.connector}: {self.level}: {self.text}"


def lint(
    worker: Mapping[str, str], connectors: Mapping[str, Mapping[str, str]], plugins: Plugins
) -> list[LintFinding]:
    """Everything that is wrong with connectors, in their order."""
    try:
        settings = WorkerSettings(worker).resolved()
    except ConfigError as error:
        return [LintFinding("worker", ERROR, str(error))]
    found: list[LintFinding] = []
    for name, config in connectors.items():
        hide = settings.providers.hide
        found += [
            LintFinding(name, level, hide(text)) for level, text in _of(settings, config, plugins)
        ]
    return found


def _of(
    settings: WorkerSettings, config: Mapping[str, str], plugins: Plugins
) -> Iterator[tuple[str, str]]:
    kind = config.get("connector.class")
    if kind is None:
        yield ERROR, "connector.class is missing"
        return
    plugin = next((each for each in plugins.connectors if each.answers_to(kind)), None)
    if plugin is None:
        shorts = [each.name.rpartition(".")[2] for each in plugins.connectors]
        names = [*(each.removesuffix("Connector") for each in shorts), *shorts]
        yield ERROR, f"connector.class: {kind} is not here{_meant(kind, names)}"
        return
    try:
        resolved = settings.providers.resolved(config)
        checked = validate(plugin.name, plugin.kind, plugin.settings, resolved)
    except ConfigError as error:
        yield ERROR, str(error)
        return
    yield from ((ERROR, error) for error in checked.errors)
    known = {each.setting.name for each in checked.checked}
    own = tuple(getattr(plugin.connector, "prefixes", ()))
    for name in sorted(set(config) - known):
        if not name.startswith(own):
            yield from _unknown(name, known, config)
    if not checked.errors:
        yield from _made(settings, resolved, plugin)


def _unknown(
    name: str, known: Iterable[str], config: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """A setting that nobody reads; those of steps are known by the names of the steps."""
    if name in _ALWAYS or name.startswith(_OPEN):
        return
    for role in _STEPS:
        if name.startswith(f"{role}."):
            alias = name.split(".")[1]
            if alias not in listed(config, role):
                yield WARNING, f"{name}: {role} does not list {alias}"
            return
    yield WARNING, f"{name} is no setting of this connector{_meant(name, known)}"


def _made(
    settings: WorkerSettings, config: Mapping[str, str], plugin: Plugin
) -> Iterator[tuple[str, str]]:
    """What its parts refuse when they are made; none of them connects to anything then."""
    try:
        converters_of(settings.properties, config)
    except ConnectError as error:
        yield ERROR, str(error)
    try:
        if plugin.kind == SOURCE:
            topic_rules(config)
        plugin.connector(config).close()
    except ConnectError as error:
        yield ERROR, str(error)


def _meant(name: str, known: Iterable[str]) -> str:
    close: Sequence[str] = get_close_matches(name, list(known), 1)
    return f"; is {close[0]} meant?" if close else ""
