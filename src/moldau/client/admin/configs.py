"""Settings of topics, brokers, groups and loggers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from moldau.client.admin.area import AdminArea
from moldau.client.admin.outcomes import Outcomes
from moldau.client.admin.places import Anywhere, ByNumber, Places
from moldau.client.admin.routing import Answers, outcome
from moldau.client.connection.cluster import Cluster
from moldau.protocol.messages import alter_configs, incremental_alter_configs
from moldau.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
)

_DESCRIBE_CONFIGS = 32
_SINCE_SYNONYMS = 1


class ConfigKind(IntEnum):
    """What has settings."""

    UNKNOWN = 0
    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class ConfigSource(IntEnum):
    """Where a value comes from."""

    UNKNOWN = 0
    TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    DYNAMIC_BROKER_LOGGER = 6
    CLIENT_METRICS = 7
    GROUP = 8


class ConfigOperation(IntEnum):
    """What is done to one setting; the last two are for lists."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


@dataclass(frozen=True, slots=True)
class ConfigResource:
    """One topic, broker or group; a broker without a name stands for the default of all."""

    kind: ConfigKind
    name: str

    @classmethod
    def topic(cls, name: str) -> "ConfigResource":
        """A topic by its name."""
        return cls(ConfigKind.TOPIC, name)

    @classmethod
    def broker(cls, node_id: int | None = None) -> "ConfigResource":
        """A broker by its number, or the default of all brokers."""
        return cls(ConfigKind.BROKER, "" if node_id is None else str(node_id))


@dataclass(frozen=True, slots=True)
class ConfigSynonym:
    """A value that a setting has, or would have if those before it were gone."""

    name: str
    value: str | None
    source: ConfigSource


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """One setting; the value of a sensitive one is None."""

    name: str
    value: str | None
    source: ConfigSource
    is_read_only: bool
    is_sensitive: bool
    synonyms: list[ConfigSynonym]
    documentation: str | None

    @property
    def is_default(self) -> bool:
        """Whether it is not set."""
        return self.source is ConfigSource.DEFAULT


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """A change of one setting."""

    name: str
    value: str | None = None
    operation: ConfigOperation = ConfigOperation.SET


class ConfigsArea(AdminArea):
    """The part of the Admin client for settings."""

    async def describe_configs(
        self,
        resources: Iterable[ConfigResource] | Mapping[ConfigResource, Sequence[str]],
        *,
        include_synonyms: bool = False,
        include_documentation: bool = False,
    ) -> Outcomes[ConfigResource, dict[str, ConfigEntry]]:
        """The settings of each resource: all of them, or those that a mapping names."""
        router = self._router
        wanted = resources if isinstance(resources, Mapping) else dict.fromkeys(resources)

        async def ask(
            node_id: int, keys: list[ConfigResource]
        ) -> Answers[ConfigResource, dict[str, ConfigEntry]]:
            request = DescribeConfigsRequest(
                resources=[_described(each, wanted[each]) for each in keys],
                include_synonyms=include_synonyms,
                include_documentation=include_documentation,
            )
            version = (await router.cluster.broker(node_id)).versions.newest(_DESCRIBE_CONFIGS)
            answer = await router.cluster.ask(node_id, request, DescribeConfigsResponse)
            return {
                ConfigResource(ConfigKind(each.resource_type), each.resource_name): outcome(
                    each.error_code,
                    {config.name: _entry(config, version) for config in each.configs},
                    each.error_message,
                )
                for each in answer.results
            }

        return await router.each(wanted, _AtResource(router.cluster), ask)

    async def incremental_alter_configs(
        self,
        changes: Mapping[ConfigResource, Iterable[ConfigChange] | Mapping[str, str | None]],
        *,
        validate_only: bool = False,
    ) -> Outcomes[ConfigResource, None]:
        """Change single settings and leave the others; in a mapping None deletes (KIP-339)."""
        router = self._router

        async def ask(node_id: int, keys: list[ConfigResource]) -> Answers[ConfigResource, None]:
            request = incremental_alter_configs.IncrementalAlterConfigsRequest(
                resources=[_changed(each, changes[each]) for each in keys],
                validate_only=validate_only,
            )
            answer = await router.cluster.ask(
                node_id, request, incremental_alter_configs.IncrementalAlterConfigsResponse
            )
            return _altered(answer.responses)

        return await router.each(changes, _AtResource(router.cluster), ask)

    async def alter_configs(
        self,
        settings: Mapping[ConfigResource, Mapping[str, str | None]],
        *,
        validate_only: bool = False,
    ) -> Outcomes[ConfigResource, None]:
        """Replace all settings of each resource: what is not named goes back to its default."""
        router = self._router

        async def ask(node_id: int, keys: list[ConfigResource]) -> Answers[ConfigResource, None]:
            request = alter_configs.AlterConfigsRequest(
                resources=[_replaced(each, settings[each]) for each in keys],
                validate_only=validate_only,
            )
            answer = await router.cluster.ask(node_id, request, alter_configs.AlterConfigsResponse)
            return _altered(answer.responses)

        return await router.each(settings, _AtResource(router.cluster), ask)


class _AtResource(Places[ConfigResource]):
    """A broker answers for itself, any broker for everything else."""

    def __init__(self, cluster: Cluster) -> None:
        self._anywhere = Anywhere[ConfigResource](cluster)
        self._brokers = ByNumber(cluster)

    async def find(self, key: ConfigResource) -> int:
        if key.kind in (ConfigKind.BROKER, ConfigKind.BROKER_LOGGER) and key.name.isdecimal():
            return await self._brokers.find(int(key.name))
        return await self._anywhere.find(key)

    def forget(self, key: ConfigResource) -> None:
        self._anywhere.forget(key)


def _described(resource: ConfigResource, names: Sequence[str] | None) -> DescribeConfigsResource:
    return DescribeConfigsResource(
        resource_type=resource.kind,
        resource_name=resource.name,
        configuration_keys=None if names is None else list(names),
    )


def _entry(config: DescribeConfigsResourceResult, version: int) -> ConfigEntry:
    if version < _SINCE_SYNONYMS:
        source = ConfigSource.DEFAULT if config.is_default else ConfigSource.UNKNOWN
    else:
        source = ConfigSource(config.config_source)
    return ConfigEntry(
        config.name,
        config.value,
        source,
        config.read_only,
        config.is_sensitive,
        [
            ConfigSynonym(each.name, each.value, ConfigSource(each.source))
            for each in config.synonyms
        ],
        config.documentation or None,
    )


def _changed(
    resource: ConfigResource, changes: Iterable[ConfigChange] | Mapping[str, str | None]
) -> incremental_alter_configs.AlterConfigsResource:
    if isinstance(changes, Mapping):
        changes = [
            ConfigChange(
                name, value, ConfigOperation.DELETE if value is None else ConfigOperation.SET
            )
            for name, value in changes.items()
        ]
    return incremental_alter_configs.AlterConfigsResource(
        resource_type=resource.kind,
        resource_name=resource.name,
        configs=[
            incremental_alter_configs.AlterableConfig(
                name=each.name, config_operation=each.operation, value=each.value
            )
            for each in changes
        ],
    )


def _replaced(
    resource: ConfigResource, settings: Mapping[str, str | None]
) -> alter_configs.AlterConfigsResource:
    return alter_configs.AlterConfigsResource(
        resource_type=resource.kind,
        resource_name=resource.name,
        configs=[
            alter_configs.AlterableConfig(name=name, value=value)
            for name, value in settings.items()
        ],
    )


def _altered(
    answers: Sequence[
        alter_configs.AlterConfigsResourceResponse
        | incremental_alter_configs.AlterConfigsResourceResponse
    ],
) -> Answers[ConfigResource, None]:
    return {
        ConfigResource(ConfigKind(each.resource_type), each.resource_name): outcome(
            each.error_code, None, each.error_message
        )
        for each in answers
    }
