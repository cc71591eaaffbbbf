"""Quotas of users, clients and addresses: listed, set, removed."""

import math
from collections.abc import Mapping

from moldau.client.admin.quotas import CLIENT_ID, IP, USER, QuotaEntity
from moldau.console.access import Role
from moldau.console.bodies import Sent
from moldau.console.endpoints import PREFIX, ApiCall, ApiEndpoint
from moldau.web.errors import WebError

_QUOTAS = f"{PREFIX}/quotas"
_OF_CLIENTS = {
    "producer_byte_rate": "bytes per second written",
    "consumer_byte_rate": "bytes per second read",
    "request_percentage": "percent of a thread's time",
    "controller_mutation_rate": "partitions created or deleted per second",
}
_OF_ADDRESSES = {"connection_creation_rate": "new connections per second"}
_KINDS = (USER, CLIENT_ID, IP)


async def quotas(call: ApiCall) -> object:
    """All quotas; a name of null is the default for those who have none of their own."""
    found = await (await call.admin()).describe_client_quotas()
    return {
        "quotas": [
            {"entity": dict(entity), "values": values}
            for entity, values in sorted(found.items(), key=lambda item: _order(item[0]))
            if set(dict(entity)) <= set(_KINDS) and set(values) & {*_OF_CLIENTS, *_OF_ADDRESSES}
        ],
        "known": {"clients": _OF_CLIENTS, "addresses": _OF_ADDRESSES},
    }


def _order(entity: QuotaEntity) -> list[tuple[str, str]]:
    return [(kind, name or "") for kind, name in entity]


async def change(call: ApiCall) -> object:
    """Set quotas of one entity; null takes one away."""
    sent = await call.body()
    entity = entity_of(sent)
    values = values_of(sent, {kind for kind, _ in entity})
    validate_only = sent.get("validate_only") is True
    admin = await call.admin()
    (await admin.alter_client_quotas({entity: values}, validate_only=validate_only)).check()
    return {"entity": dict(entity), "changed": sorted(values)}


def entity_of(sent: Sent) -> QuotaEntity:
    """Whom quotas are for: a user, a client, both, or an address."""
    given = sent.get("entity")
    if not isinstance(given, dict) or not given or not set(given) <= set(_KINDS):
        raise WebError(400, f"entity: an object of {', '.join(_KINDS)}; null is the default")
    if IP in given and len(given) > 1:
        raise WebError(400, "entity: an address stands alone")
    if any(name is not None and (not isinstance(name, str) or not name) for name in given.values()):
        raise WebError(400, "entity: names are texts, or null for the default")
    return tuple(given.items())


def values_of(sent: Sent, kinds: set[str]) -> dict[str, float | None]:
    """The quotas that a body names: numbers above 0, or null."""
    given = sent.get("values")
    known: Mapping[str, str] = _OF_ADDRESSES if IP in kinds else _OF_CLIENTS
    if not isinstance(given, dict) or not given or not set(given) <= set(known):
        raise WebError(400, f"values: an object of {', '.join(known)}")
    for name, value in given.items():
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if value is not None and not (is_number and math.isfinite(value) and value > 0):
            raise WebError(400, f"values: {name} is a number above 0, or null to take it away")
    return given


ENDPOINTS = (
    ApiEndpoint("GET", _QUOTAS, Role.VIEWER, "Quotas", quotas),
    ApiEndpoint(
        "PATCH",
        _QUOTAS,
        Role.ADMIN,
        "Set or take away quotas",
        change,
        body={
            "entity": "user, client-id or ip with a name; null for the default",
            "values": "quotas by name; null takes one away",
            "validate_only": "true: only check",
        },
    ),
)
