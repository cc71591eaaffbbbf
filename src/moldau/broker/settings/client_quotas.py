"""Quotas of users, clients and addresses, as entries of the tree (KIP-546)."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from enum import IntEnum
from functools import partial
from math import isfinite
from typing import NamedTuple

from moldau.broker.quotas.enforcement import Enforcement
from moldau.broker.settings.configs import Configs
from moldau.config.client_quotas import AddressQuotas, ClientQuotas
from moldau.config.definition import Setting, settings_of
from moldau.config.values import INT_MAX, ConfigType, to_text
from moldau.coordination.layout.configs import ConfigEntity, parse_entity_path
from moldau.errors import ErrorCode, KafkaError
from moldau.net.admission import plain
from moldau.runtime.threads import in_thread

_log = logging.getLogger(__name__)

USER, CLIENT, ADDRESS = "user", "client-id", "ip"
_CONNECTIONS = "connection_creation_rate"
_SHORT_NAMES = {USER: "user", CLIENT: "client", ADDRESS: "ip"}
# As Kafka has it: a rate that was computed may miss a whole number by a little.
_WHOLE_WITHIN = 1e-6

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


class SetQuotas(NamedTuple):
    """The quotas of one entity."""

    entity: Entity
    values: Mapping[str, float]


class ClientQuotaStore:
    """Reads and writes quotas, and has them enforced as soon as they change."""

    def __init__(self, configs: Configs, enforcement: Enforcement) -> None:
        self._configs = configs
        self._enforcement = enforcement
        self._addresses: dict[str, frozenset[str]] = {}
        """What the names of hosts stood for when their quotas were set."""
        configs.listen_to_quotas(self._enforce)

    async def load(self) -> None:
        """Enforce what is set by now."""
        async for target in self._entities():
            if target.type == "ips" and target.name is not None:
                self._addresses[target.name] = await in_thread(partial(_resolve, target.name))
            self._enforce(target, await self._configs.read(target))

    def _enforce(self, target: ConfigEntity, texts: Mapping[str, str]) -> None:
        if target.type != "ips":
            self._enforcement.apply(target, texts)
        elif target.name is None or target.name in self._addresses:
            self._limit(target.name, texts)
        else:  # set through another broker
            loop = asyncio.get_running_loop()
            looking = loop.run_in_executor(None, _resolve, target.name)
            looking.add_done_callback(partial(self._found, target.name, texts))

    def _found(
        self, name: str, texts: Mapping[str, str], looking: "asyncio.Future[frozenset[str]]"
    ) -> None:
        if not looking.cancelled():
            self._addresses[name] = looking.result()
            self._limit(name, texts)

    def _limit(self, name: str | None, texts: Mapping[str, str]) -> None:
        """Bound the connections of an address, or of those that a host has."""
        quota = None
        if _CONNECTIONS in texts:
            try:
                value = settings_of(AddressQuotas)[_CONNECTIONS].parse(texts[_CONNECTIONS])
            except KafkaError as error:
                _log.warning("Ignored the quota of %s: %s", name or "all addresses", error)
            else:
                assert isinstance(value, int)
                quota = None if value == INT_MAX else value
        connections = self._enforcement.connections
        for address in (None,) if name is None else self._addresses[name]:
            connections.put(address, quota)
        if name is not None and quota is None:
            del self._addresses[name]

    async def alter(
        self, entity: Entity, changes: Sequence[QuotaChange], *, is_only_checked: bool
    ) -> None:
        """Set and take away quotas of an entity."""
        target = _config_entity(entity)
        if target.type == "ips" and target.name is not None:
            self._addresses[target.name] = found = await in_thread(partial(_resolve, target.name))
            if not found:
                del self._addresses[target.name]
                raise _invalid(f"{target.name} is not a valid IP or resolvable host.")
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

    async def find(self, filters: Sequence[EntityFilter], *, is_strict: bool) -> list[SetQuotas]:
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
                found.append(SetQuotas(entity, values))
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
            return ConfigEntity("ips", entity[ADDRESS])
        case ["client-id", "user"]:
            return ConfigEntity.user_client(entity[USER], entity[CLIENT])
    raise _invalid(
        "Invalid quota entity combination, IP entity should not be used with user/client ID entity."
    )


def _resolve(host: str) -> frozenset[str]:
    """The addresses that a host has, or the one that it is; none if it is not known."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return frozenset()
    return frozenset(plain(str(address[0])) for _, _, _, _, address in found)


def _settings(entity: Entity) -> Mapping[str, Setting]:
    return settings_of(AddressQuotas if ADDRESS in entity else ClientQuotas)


def _check(change: QuotaChange, settings: Mapping[str, Setting]) -> None:
    """Raise for what cannot be set; what cannot be set can still be taken away."""
    if change.value is None:
        return
    setting = settings.get(change.key)
    if setting is None:
        raise _invalid(f"Invalid configuration key {change.key}")
    value = change.value
    is_whole = isfinite(value) and value > -1 and abs(round(value) - value) <= _WHOLE_WITHIN
    if setting.type is not ConfigType.DOUBLE and not is_whole:
        raise _invalid(f"Configuration {change.key} must be a {setting.type.name} value")
    if setting.type is ConfigType.DOUBLE and not isfinite(value):
        raise _invalid(f"Configuration {change.key} must be a number")
    if value == 0 and change.key != _CONNECTIONS:
        raise _invalid(
            f"{change.key}=0 is refused: Apache Kafka takes it, and then throttles no client; "
            "set a rate above 0, or remove the quota"
        )
    try:
        setting.parse(_text(value, setting))
    except KafkaError as error:
        raise _invalid(str(error)) from error


def _text(value: float, setting: Setting) -> str:
    text = to_text(value if setting.type is ConfigType.DOUBLE else round(value))
    assert text is not None
    return text


def _check_filters(filters: Iterable[EntityFilter]) -> None:
    types: set[str] = set()
    for kind in [one.type for one in filters]:
        if not kind:
            raise _invalid("Unexpected empty filter component entity type")
        if kind not in _SHORT_NAMES:
            message = f"Custom entity type '{kind}' not supported"
            raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, message)
        if kind in types:
            raise _invalid(f"Duplicate {_SHORT_NAMES[kind]} filter component entity type")
        types.add(kind)
    if ADDRESS in types and len(types) > 1:
        raise _invalid(
            "Invalid entity filter component combination, IP filter component should not be used "
            "with user or clientId filter component."
        )


def _invalid(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, message)
