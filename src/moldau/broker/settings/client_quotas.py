"""Quotas of users, clients and addresses, as entries of the tree (KIP-546).

They are kept and described, but throttle no client yet: the first that is met says so in the
log.
"""

import logging
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from enum import IntEnum
from ipaddress import ip_address
from typing import NamedTuple

from moldau.broker.settings.configs import Configs
from moldau.config.client_quotas import AddressQuotas, ClientQuotas
from moldau.config.definition import Setting, settings_of
from moldau.config.values import ConfigType
from moldau.coordination.layout.configs import ConfigEntity, parse_entity_path
from moldau.errors import ErrorCode, KafkaError

_log = logging.getLogger(__name__)

USER, CLIENT, ADDRESS = "user", "client-id", "ip"

Entity = Mapping[str, str | None]
"""Names by type; None stands for all that have no quota of their own."""


class Match(IntEnum):
    """How a filter compares a name, numbered as DescribeClientQuotas sends it."""

    EXACT = 0
    DEFAULT = 1
    ANY = 2


class EntityFilter(NamedTuple):
    """What a type's name must be."""

    type: str
    match: int
    name: str | None

    def accepts(self, entity: Entity) -> bool:
        if self.type not in entity:
            return False
        match self.match:
            case Match.EXACT:
                return entity[self.type] == self.name
            case Match.DEFAULT:
                return entity[self.type] is None
            case _:
                return True


class QuotaChange(NamedTuple):
    """A quota to set, or to take away (None)."""

    key: str
    value: float | None


class Quotas(NamedTuple):
    """The quotas of one entity."""

    entity: Entity
    values: Mapping[str, float]


class ClientQuotaStore:
    """Reads and writes quotas."""

    def __init__(self, configs: Configs) -> None:
        self._configs = configs
        self._is_told = False
        configs.listen_to_quotas(self._warn_once)

    async def load(self) -> None:
        """Find out whether quotas are set."""
        async for target in self._entities():
            if not self._is_told:
                self._warn_once(target, await self._configs.read(target))

    def _warn_once(self, target: ConfigEntity, texts: Mapping[str, str]) -> None:
        quotas = [name for name in texts if name in _settings(_entity(target))]
        if quotas and not self._is_told:
            self._is_told = True
            _log.warning(
                "quotas have no effect: %s of %s is set, but this broker does not slow clients "
                "down yet; bound them elsewhere if they must be",
                quotas[0],
                target.entity_path,
            )

    async def alter(
        self, entity: Entity, changes: Sequence[QuotaChange], *, is_only_checked: bool
    ) -> None:
        """Set and take away quotas of an entity."""
        target = _config_entity(entity)
        settings = _settings(entity)
        for change in changes:
            _check(change, settings)

        def altered(current: dict[str, str]) -> Mapping[str, str]:
            for change in changes:
                if change.value is None:
                    current.pop(change.key, None)
                else:
                    current[change.key] = _text(change.value, settings[change.key])
            return current

        await self._configs.alter(target, altered, is_only_checked=is_only_checked)

    async def find(self, filters: Sequence[EntityFilter], *, is_strict: bool) -> list[Quotas]:
        """The quotas of all entities that pass all filters; strictly: that are nothing else."""
        _check_filters(filters)
        types = {one.type for one in filters}
        found = []
        async for target in self._entities():
            entity = _entity(target)
            if not all(one.accepts(entity) for one in filters):
                continue
            if is_strict and set(entity) != types:
                continue
            settings = _settings(entity)
            texts = await self._configs.read(target)
            values = {name: float(text) for name, text in texts.items() if name in settings}
            if values:
                found.append(Quotas(entity, values))
        return found

    async def _entities(self) -> AsyncIterator[ConfigEntity]:
        for kind in ("users", "clients", "ips"):
            for name in await self._configs.children(f"/config/{kind}"):
                yield parse_entity_path(f"{kind}/{name}")
                if kind == "users":
                    path = f"users/{name}/clients"
                    for client in await self._configs.children(f"/config/{path}"):
                        yield parse_entity_path(f"{path}/{client}")


def _entity(target: ConfigEntity) -> Entity:
    if target.has_client:
        return {USER: target.name, CLIENT: target.client}
    kinds = {"users": USER, "clients": CLIENT, "ips": ADDRESS}
    return {kinds[target.type]: target.name}


def _config_entity(entity: Entity) -> ConfigEntity:
    if not entity:
        raise _invalid("Invalid empty client quota entity")
    for kind, name in entity.items():
        if kind not in (USER, CLIENT, ADDRESS):
            raise _invalid(f"Unhandled client quota entity type: {kind}")
        if name == "":
            raise _invalid(f"Empty {kind} not supported")
    match sorted(entity):
        case ["user"]:
            return ConfigEntity("users", entity[USER])
        case ["client-id"]:
            return ConfigEntity("clients", entity[CLIENT])
        case ["ip"]:
            _check_address(entity[ADDRESS])
            return ConfigEntity("ips", entity[ADDRESS])
        case ["client-id", "user"]:
            return ConfigEntity.user_client(entity[USER], entity[CLIENT])
    raise _invalid("an address goes with neither a user nor a client")


def _check_address(name: str | None) -> None:
    try:
        ip_address(name or "::")
    except ValueError as error:
        raise _invalid(f"{name} is not a valid IP.") from error


def _settings(entity: Entity) -> Mapping[str, Setting]:
    return settings_of(AddressQuotas if ADDRESS in entity else ClientQuotas)


def _check(change: QuotaChange, settings: Mapping[str, Setting]) -> None:
    setting = settings.get(change.key)
    if setting is None:
        raise _invalid(f"Invalid configuration key {change.key}")
    if change.value is None:
        return
    if setting.type is not ConfigType.DOUBLE and not change.value.is_integer():
        raise _invalid(f"Configuration {change.key} must be a {setting.type.name} value")
    try:
        setting.parse(_text(change.value, setting))
    except KafkaError as error:
        raise _invalid(str(error)) from error


def _text(value: float, setting: Setting) -> str:
    return str(value) if setting.type is ConfigType.DOUBLE else str(int(value))


def _check_filters(filters: Iterable[EntityFilter]) -> None:
    types = [one.type for one in filters]
    for kind in types:
        if kind not in (USER, CLIENT, ADDRESS):
            message = f"Custom entity type '{kind}' not supported"
            raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, message)
    if len(set(types)) < len(types):
        raise _invalid("Duplicate filter components for one entity type")
    if ADDRESS in types and len(types) > 1:
        raise _invalid("Invalid entity filter component combination")


def _invalid(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, message)
