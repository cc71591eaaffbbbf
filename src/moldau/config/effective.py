"""Which value counts: settings out of several layers, described as DescribeConfigs does."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property

from moldau.config.broker.broker import (
    BrokerConfig,
    broker_settings,
    read_broker_config,
    standalone_defaults,
    with_both_ids,
)
from moldau.config.broker.dynamic import find_broker_setting
from moldau.config.definition import Setting, UpdateMode
from moldau.config.synonyms import TOPIC_SYNONYMS, broker_synonyms, unit_synonyms
from moldau.config.topic import TopicConfig, topic_settings
from moldau.config.topic_defaults import topic_defaults
from moldau.config.values import ConfigType, to_text


class SettingSource(IntEnum):
    """Where a value comes from, numbered as DescribeConfigs sends it."""

    DYNAMIC_TOPIC_CONFIG = 1
    DYNAMIC_BROKER_CONFIG = 2
    DYNAMIC_DEFAULT_BROKER_CONFIG = 3
    STATIC_BROKER_CONFIG = 4
    DEFAULT_CONFIG = 5


@dataclass(frozen=True, slots=True)
class SettingOrigin:
    """One place that gives a setting, or a synonym of it, a value."""

    name: str
    value: str | None
    source: SettingSource


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectiveSetting:
    """A setting as an administrator sees it."""

    name: str
    value: str | None
    source: SettingSource
    synonyms: tuple[SettingOrigin, ...]
    """Every place that gives it a value, the one that counts first."""
    type: ConfigType | None
    """None for a name that is not known, which may be a plug-in's."""
    is_sensitive: bool
    is_read_only: bool
    doc: str | None


@dataclass(frozen=True)
class BrokerLayers:
    """A broker's settings by where they were made, as texts."""

    # Not shown: there are passwords among them.
    static: Mapping[str, str] = field(repr=False)
    """The properties file and the command line."""
    cluster: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Dynamic, for all brokers."""
    broker: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Dynamic, for this broker."""

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """What is set anywhere, the strongest layer winning."""
        texts = dict(with_both_ids(self.static))
        for layer in (self.cluster, self.broker):
            for name in layer:
                # A dynamic log.retention.ms outdoes a static log.retention.hours.
                for synonym in unit_synonyms(name):
                    texts.pop(synonym, None)
            texts.update(layer)
        return texts

    @cached_property
    def config(self) -> BrokerConfig:
        return read_broker_config(self.texts)

    @cached_property
    def topic_defaults(self) -> TopicConfig:
        return topic_defaults(self.config)

    @cached_property
    def _sources(self) -> tuple[tuple[Mapping[str, str], SettingSource], ...]:
        defaults = {
            name: text
            for name, setting in broker_settings().items()
            if (text := setting.default_text) is not None
        }
        return (
            (self.broker, SettingSource.DYNAMIC_BROKER_CONFIG),
            (self.cluster, SettingSource.DYNAMIC_DEFAULT_BROKER_CONFIG),
            (with_both_ids(self.static), SettingSource.STATIC_BROKER_CONFIG),
            ({**defaults, **standalone_defaults(self.static)}, SettingSource.DEFAULT_CONFIG),
        )

    def origins(self, name: str, *, is_sensitive: bool) -> tuple[SettingOrigin, ...]:
        """Every layer's value for a broker setting and its synonyms, strongest first."""
        found = [
            SettingOrigin(synonym, None if is_sensitive else layer[synonym], source)
            for layer, source in self._sources
            for synonym in broker_synonyms(name)
            if synonym in layer
        ]
        # Kafka drops what stands before the setting itself: a listener's own value is no
        # origin of the general one, nor is log.retention.ms one of log.retention.hours.
        own = next((i for i, origin in enumerate(found) if origin.name == name), len(found))
        return tuple(found[own:])


def describe_broker(
    layers: BrokerLayers, names: Iterable[str] | None = None
) -> list[EffectiveSetting]:
    """What counts on this broker: all settings, or those out of `names` that exist."""
    return [_broker_entry(layers, name) for name in _chosen(_broker_names(layers), names)]


def describe_cluster(
    layers: BrokerLayers, names: Iterable[str] | None = None
) -> list[EffectiveSetting]:
    """The dynamic settings for all brokers."""
    return [_cluster_entry(layers, name) for name in _chosen(layers.cluster, names)]


def describe_topic(
    overrides: Mapping[str, str], layers: BrokerLayers, names: Iterable[str] | None = None
) -> list[EffectiveSetting]:
    """What counts for a topic with these settings of its own."""
    config = layers.topic_defaults.with_overrides(overrides)
    return [
        _topic_entry(setting, config, overrides, layers)
        for setting in topic_settings().values()
        if names is None or setting.name in names
    ]


def is_sensitive(name: str) -> bool:
    """Whether a broker setting's value must not be shown; an unknown one's must not."""
    setting = find_broker_setting(name)
    return setting is None or setting.is_sensitive


def _chosen(available: Iterable[str], names: Iterable[str] | None) -> Iterator[str]:
    wanted = None if names is None else frozenset(names)
    return (name for name in available if wanted is None or name in wanted)


def _broker_names(layers: BrokerLayers) -> list[str]:
    known = [name for name, setting in broker_settings().items() if not setting.is_internal]
    return list(dict.fromkeys([*known, *layers.texts]))


def _broker_entry(layers: BrokerLayers, name: str) -> EffectiveSetting:
    is_known = name in broker_settings()
    text = to_text(layers.config.value(name)) if is_known else layers.texts[name]
    return _entry(name, text, layers.origins(name, is_sensitive=is_sensitive(name)))


def _cluster_entry(layers: BrokerLayers, name: str) -> EffectiveSetting:
    origins = tuple(
        origin
        for origin in layers.origins(name, is_sensitive=is_sensitive(name))
        if origin.source is SettingSource.DYNAMIC_DEFAULT_BROKER_CONFIG
    )
    return _entry(name, layers.cluster[name], origins)


def _entry(name: str, text: str | None, origins: tuple[SettingOrigin, ...]) -> EffectiveSetting:
    setting = find_broker_setting(name)
    hidden = is_sensitive(name)
    return EffectiveSetting(
        name=name,
        value=None if hidden else text,
        source=origins[0].source if origins else SettingSource.DEFAULT_CONFIG,
        synonyms=origins,
        type=setting.type if setting else None,
        is_sensitive=hidden,
        is_read_only=name not in broker_settings()
        or broker_settings()[name].update is UpdateMode.READ_ONLY,
        doc=setting.doc if setting else None,
    )


def _topic_entry(
    setting: Setting, config: TopicConfig, overrides: Mapping[str, str], layers: BrokerLayers
) -> EffectiveSetting:
    text = to_text(getattr(config, setting.attribute))
    origins: tuple[SettingOrigin, ...] = ()
    if setting.name in TOPIC_SYNONYMS:
        origins = layers.origins(TOPIC_SYNONYMS[setting.name][0].name, is_sensitive=False)
    if setting.name in overrides:
        origins = (SettingOrigin(setting.name, text, SettingSource.DYNAMIC_TOPIC_CONFIG), *origins)
    return EffectiveSetting(
        name=setting.name,
        value=text,
        source=origins[0].source if origins else SettingSource.DEFAULT_CONFIG,
        synonyms=origins,
        type=setting.type,
        is_sensitive=False,
        is_read_only=False,
        doc=setting.doc,
    )
