"""Settings of topics, brokers and their loggers."""

from collections.abc import Iterable, Mapping

from moldau.cli.config_entities.entity import DEFAULT, Entity
from moldau.cli.terminal.failure import CommandFailed
from moldau.client.admin.configs import (
    ConfigChange,
    ConfigEntry,
    ConfigKind,
    ConfigOperation,
    ConfigResource,
    ConfigsArea,
    ConfigSource,
)
from moldau.client.admin.connected import Connected
from moldau.client.admin.description import DescriptionArea
from moldau.client.admin.groups import GroupsArea
from moldau.client.admin.topics import TopicsArea

_KINDS = {
    "topics": ConfigKind.TOPIC,
    "brokers": ConfigKind.BROKER,
    "broker-loggers": ConfigKind.BROKER_LOGGER,
    "client-metrics": ConfigKind.CLIENT_METRICS,
    "groups": ConfigKind.GROUP,
}
_OWN = {
    "topics": ConfigSource.TOPIC,
    "brokers": ConfigSource.DYNAMIC_BROKER,
    "broker-loggers": ConfigSource.DYNAMIC_BROKER_LOGGER,
    "client-metrics": ConfigSource.CLIENT_METRICS,
    "groups": ConfigSource.GROUP,
}
# Names of the wire, where they are not our own.
_SOURCES = {
    ConfigSource.TOPIC: "DYNAMIC_TOPIC_CONFIG",
    ConfigSource.DYNAMIC_BROKER: "DYNAMIC_BROKER_CONFIG",
    ConfigSource.DYNAMIC_DEFAULT_BROKER: "DYNAMIC_DEFAULT_BROKER_CONFIG",
    ConfigSource.STATIC_BROKER: "STATIC_BROKER_CONFIG",
    ConfigSource.DEFAULT: "DEFAULT_CONFIG",
    ConfigSource.DYNAMIC_BROKER_LOGGER: "DYNAMIC_BROKER_LOGGER_CONFIG",
    ConfigSource.CLIENT_METRICS: "DYNAMIC_CLIENT_METRICS_CONFIG",
    ConfigSource.GROUP: "DYNAMIC_GROUP_CONFIG",
}


class SettingAdmin(ConfigsArea, TopicsArea, GroupsArea, DescriptionArea, Connected):
    """What settings need of an admin client."""


async def describe_settings(
    admin: SettingAdmin, entity: Entity, *, is_every: bool, is_json: bool
) -> list[dict[str, object]]:
    """Print the settings of one, or of all of its type; returns them for JSON."""
    data: list[dict[str, object]] = []
    for name in await _names(admin, entity):
        one = Entity(entity.kind, name)
        if not is_json:
            print(_headline(one, is_every=is_every))
        found = await read_settings(admin, one, is_every=is_every)
        data.append({"type": one.kind, "name": name, "configs": _as_data(found)})
        for each in () if is_json else found:
            print(f"  {line(each)}")
    return data


async def read_settings(
    admin: SettingAdmin, entity: Entity, *, is_every: bool
) -> list[ConfigEntry]:
    """Settings by their names: all of them, or those that were set for this one."""
    resource = _resource(entity)
    found = (await admin.describe_configs([resource], include_synonyms=True))[resource]
    own = _OWN[entity.kind]
    if entity == Entity("brokers", DEFAULT):
        own = ConfigSource.DYNAMIC_DEFAULT_BROKER
    entries = [found[name] for name in sorted(found)]
    return entries if is_every else [each for each in entries if each.source is own]


def line(entry: ConfigEntry) -> str:
    """A setting, and where its value comes from."""
    synonyms = ", ".join(
        f"{_SOURCES.get(each.source, each.source.name)}:{each.name}={_shown(each.value)}"
        for each in entry.synonyms
    )
    sensitive = str(entry.is_sensitive).lower()
    value = _shown(entry.value)
    return f"{entry.name}={value} sensitive={sensitive} synonyms={{{synonyms}}}"


async def alter_settings(
    admin: SettingAdmin, entity: Entity, added: Mapping[str, str], removed: Iterable[str]
) -> None:
    """Set some settings and take back others."""
    assert entity.name is not None, "somebody's settings are changed"
    own = {each.name for each in await read_settings(admin, entity, is_every=False)}
    unknown = [name for name in removed if name not in own]
    if unknown:
        raise CommandFailed(f"Invalid config(s): {','.join(unknown)}")
    changes = [ConfigChange(name, value) for name, value in added.items()]
    changes += [ConfigChange(name, operation=ConfigOperation.DELETE) for name in removed]
    (await admin.incremental_alter_configs({_resource(entity): changes})).check()
    if entity.name == DEFAULT:
        print(f"Completed updating default config for {entity.kind} in the cluster.")
    else:
        print(f"Completed updating config for {entity.singular} {entity.name}.")


async def _names(admin: SettingAdmin, entity: Entity) -> list[str]:
    if entity.name is not None:
        return [entity.name]
    if entity.kind == "topics":
        return list(await admin.list_topics(include_internal=True))
    if entity.kind in ("brokers", "broker-loggers"):
        brokers = (await admin.describe_cluster()).brokers
        numbers = [str(each.node_id) for each in sorted(brokers, key=lambda each: each.node_id)]
        return [*numbers, DEFAULT] if entity.kind == "brokers" else numbers
    if entity.kind == "groups":
        return [each.group_id for each in await admin.list_groups()]
    raise CommandFailed(f"an entity name must be specified for {entity.kind}")


def _headline(entity: Entity, *, is_every: bool) -> str:
    if entity.name == DEFAULT:
        return f"Default configs for {entity.kind} in the cluster are:"
    which = "All" if is_every else "Dynamic"
    return f"{which} configs for {entity.singular} {entity.name} are:"


def _resource(entity: Entity) -> ConfigResource:
    return ConfigResource(_KINDS[entity.kind], entity.name or "")


def _shown(value: str | None) -> str:
    return "null" if value is None else value


def _as_data(entries: Iterable[ConfigEntry]) -> dict[str, object]:
    return {each.name: {"value": each.value, "source": each.source.name} for each in entries}
