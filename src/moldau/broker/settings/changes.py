"""Changes to settings that administrators ask for: checked, then made or left at that."""

from collections.abc import Iterable, Mapping

from moldau.broker.settings import loggers
from moldau.broker.settings.configs import Change, Configs
from moldau.broker.settings.resources import (
    ConfigResourceType,
    RequestedResource,
    broker_of,
    require_topic,
)
from moldau.config.alteration import Alteration, AlterOperation, alter
from moldau.config.broker.broker import broker_settings
from moldau.config.topic import topic_settings
from moldau.coordination.layout.configs import ConfigEntity
from moldau.errors import ErrorCode, InvalidConfig, KafkaError
from moldau.metadata.cache import MetadataCache


class ConfigChanges:
    """Changes settings of topics, of this broker, of all brokers and of loggers."""

    def __init__(self, configs: Configs, metadata: MetadataCache, broker_id: int) -> None:
        self._configs = configs
        self._metadata = metadata
        self._broker_id = broker_id

    async def replace(
        self,
        resource: RequestedResource,
        settings: Mapping[str, str | None],
        *,
        is_only_checked: bool,
    ) -> None:
        """Let a resource have these settings and no others, as AlterConfigs does."""
        missing = [name for name, value in settings.items() if value is None]
        if missing:
            message = f"Null value not supported for : {', '.join(missing)}"
            raise KafkaError(ErrorCode.INVALID_REQUEST, message)
        new = {name: value for name, value in settings.items() if value is not None}
        if resource.type == ConfigResourceType.TOPIC:
            await self._change_topic(resource, lambda _: new, is_only_checked=is_only_checked)
        elif resource.type == ConfigResourceType.BROKER:
            await self._change_broker(resource, lambda _: new, is_only_checked=is_only_checked)
        else:
            message = f"Unknown resource type {resource.type}"
            raise KafkaError(ErrorCode.INVALID_REQUEST, message)

    async def alter(
        self,
        resource: RequestedResource,
        alterations: Iterable[Alteration],
        *,
        is_only_checked: bool,
    ) -> None:
        """Change single settings of a resource, as IncrementalAlterConfigs does."""
        wanted = list(alterations)
        if resource.type == ConfigResourceType.TOPIC:
            await self._change_topic(
                resource,
                lambda current: alter(current, wanted, topic_settings()),
                is_only_checked=is_only_checked,
            )
        elif resource.type == ConfigResourceType.BROKER:
            await self._change_broker(
                resource,
                lambda current: alter(current, wanted, broker_settings()),
                is_only_checked=is_only_checked,
            )
        elif resource.type == ConfigResourceType.BROKER_LOGGER:
            require_own_loggers(resource, self._broker_id)
            loggers.alter(wanted, is_only_checked=is_only_checked)
        else:
            message = f"Unknown resource type {resource.type}"
            raise KafkaError(ErrorCode.INVALID_REQUEST, message)

    async def _change_topic(
        self, resource: RequestedResource, change: Change, *, is_only_checked: bool
    ) -> None:
        if not resource.name:
            message = "Default topic resources are not allowed."
            raise KafkaError(ErrorCode.INVALID_REQUEST, message)
        require_topic(resource.name, self._metadata.image)

        def checked(current: dict[str, str]) -> Mapping[str, str]:
            changed = change(current)
            self._configs.layers.topic_defaults.with_overrides(changed)
            return changed

        entity = ConfigEntity.topic(resource.name)
        await self._configs.alter(entity, checked, is_only_checked=is_only_checked)

    async def _change_broker(
        self, resource: RequestedResource, change: Change, *, is_only_checked: bool
    ) -> None:
        broker_id = broker_of(resource.name, self._broker_id)

        def checked(current: dict[str, str]) -> Mapping[str, str]:
            changed = change(current)
            try:
                self._configs.check_broker(broker_id, changed)
            except InvalidConfig as error:
                # Kafka has this code for topics alone.
                raise KafkaError(ErrorCode.INVALID_REQUEST, str(error)) from error
            self._configs.secrets.require(changed)
            return changed

        entity = ConfigEntity.broker(broker_id)
        await self._configs.alter(entity, checked, is_only_checked=is_only_checked)


def operation_of(number: int) -> AlterOperation:
    """The operation that a request names by its number."""
    try:
        return AlterOperation(number)
    except ValueError as error:
        message = f"Unknown config operation {number}"
        raise KafkaError(ErrorCode.INVALID_REQUEST, message) from error


def require_own_loggers(resource: RequestedResource, own_id: int) -> None:
    """Raise unless a resource of loggers is this broker's."""
    if broker_of(resource.name, own_id) is None:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Broker id must not be empty")
