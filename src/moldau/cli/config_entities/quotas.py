"""Quotas of users, clients and addresses, and passwords of users."""

from collections.abc import Iterable, Mapping

from moldau.cli.config_entities.entity import DEFAULT, Entity
from moldau.cli.terminal.failure import CommandFailed
from moldau.client.admin.admin import Admin
from moldau.client.admin.quotas import QuotaEntity, QuotaFilter, QuotaMatch

_TYPES = {"users": "user", "clients": "client-id", "ips": "ip"}
_LABELS = {"user": "user-principal", "client-id": "client-id", "ip": "ip"}


async def describe_quotas(
    admin: Admin, entities: Iterable[Entity], *, is_json: bool
) -> list[dict[str, object]]:
    """Print the quotas of those that match; returns them for JSON."""
    filters = [_filter(each) for each in entities]
    found = await admin.describe_client_quotas(filters, strict=True)
    if not is_json:
        for entity, quotas in found.items():
            listed = ", ".join(f"{name}={quotas[name]}" for name in sorted(quotas))
            print(f"Quota configs for {label(entity)} are {listed}")
    return [{"entity": dict(entity), "quotas": quotas} for entity, quotas in found.items()]


def label(entity: QuotaEntity) -> str:
    """Whom a quota is for."""
    parts = [
        f"the default {_LABELS[kind]}" if name is None else f"{_LABELS[kind]} '{name}'"
        for kind, name in sorted(entity, key=lambda part: list(_LABELS).index(part[0]))
    ]
    return ", ".join(parts)


async def alter_quotas(
    admin: Admin, entities: list[Entity], added: Mapping[str, str], removed: Iterable[str]
) -> None:
    """Set some quotas and take back others."""
    changes: dict[str, float | None] = {}
    for name, value in added.items():
        if name.startswith("SCRAM-"):
            raise CommandFailed(f"{name}: passwords are not set by this command yet")
        changes[name] = _number(name, value)
    changes |= dict.fromkeys(removed)
    entity = tuple((_TYPES[each.kind], each.name or None) for each in entities)
    (await admin.alter_client_quotas({entity: changes})).check()
    first = entities[0]
    if first.name == DEFAULT:
        print(f"Completed updating default config for {first.kind} in the cluster.")
    else:
        print(f"Completed updating config for {first.singular} {first.name}.")


def _number(name: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise CommandFailed(f"Cannot parse quota configuration value for {name}: {value}") from None


def _filter(entity: Entity) -> QuotaFilter:
    kind = _TYPES[entity.kind]
    if entity.name is None:
        return QuotaFilter(kind)
    if entity.name == DEFAULT:
        return QuotaFilter(kind, QuotaMatch.DEFAULT)
    return QuotaFilter(kind, QuotaMatch.EXACT, entity.name)
