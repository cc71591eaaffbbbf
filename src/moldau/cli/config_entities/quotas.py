"""Quotas of users, clients and addresses, and passwords of users."""

from collections.abc import Mapping, Sequence

from moldau.cli.config_entities.entity import DEFAULT, Entity
from moldau.cli.config_entities.passwords import (
    PREFIX,
    Passwords,
    alter_passwords,
    find_passwords,
    password_lines,
)
from moldau.cli.terminal.failure import CommandFailed
from moldau.client.admin.connected import Connected
from moldau.client.admin.quotas import QuotaEntity, QuotaFilter, QuotaMatch, QuotasArea
from moldau.client.admin.users import UsersArea

_TYPES = {"users": "user", "clients": "client-id", "ips": "ip"}
_LABELS = {"user": "user-principal", "client-id": "client-id", "ip": "ip"}


class QuotaAdmin(QuotasArea, UsersArea, Connected):
    """What quotas and passwords need of an admin client."""


async def describe_quotas(
    admin: QuotaAdmin, entities: Sequence[Entity], *, is_json: bool
) -> list[dict[str, object]]:
    """Print the quotas of those that match, and users' passwords; returns both for JSON."""
    filters = [_filter(each) for each in entities]
    found = await admin.describe_client_quotas(filters, strict=True)
    passwords: Passwords = {}
    if [each.kind for each in entities] == ["users"] and entities[0].name != DEFAULT:
        passwords = await find_passwords(admin, entities[0].name)
    if not is_json:
        for entity, quotas in found.items():
            listed = ", ".join(f"{name}={quotas[name]}" for name in sorted(quotas))
            print(f"Quota configs for {label(entity)} are {listed}")
        for line in password_lines(passwords):
            print(line)
    data: list[dict[str, object]] = [
        {"entity": dict(entity), "quotas": quotas} for entity, quotas in found.items()
    ]
    for user, credentials in passwords.items():
        scram = {each.mechanism: {"iterations": each.iterations} for each in credentials}
        data.append({"entity": {"user": user}, "scram": scram})
    return data


def label(entity: QuotaEntity) -> str:
    """Whom a quota is for."""
    parts = [
        f"the default {_LABELS[kind]}" if name is None else f"{_LABELS[kind]} '{name}'"
        for kind, name in sorted(entity, key=lambda part: list(_LABELS).index(part[0]))
    ]
    return ", ".join(parts)


async def alter_quotas(
    admin: QuotaAdmin, entities: Sequence[Entity], added: Mapping[str, str], removed: Sequence[str]
) -> None:
    """Set some quotas and passwords, and take back others."""
    passwords = {name: text for name, text in added.items() if name.startswith(PREFIX)}
    lost_passwords = [name for name in removed if name.startswith(PREFIX)]
    changes: dict[str, float | None] = {
        name: _number(name, value) for name, value in added.items() if name not in passwords
    }
    changes |= {name: None for name in removed if name not in lost_passwords}
    first = entities[0]
    if passwords or lost_passwords:
        await alter_passwords(admin, first, passwords, lost_passwords)
    if changes:
        entity = tuple((_TYPES[each.kind], each.name or None) for each in entities)
        (await admin.alter_client_quotas({entity: changes})).check()
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
