"""Quotas of clients: how much users and their clients may do (KIP-546)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum

from moldau.client.admin.area import AdminArea
from moldau.client.admin.outcomes import Outcomes
from moldau.client.admin.places import Anywhere
from moldau.client.admin.routing import Answers, outcome
from moldau.protocol.messages import alter_client_quotas, describe_client_quotas

USER = "user"
CLIENT_ID = "client-id"
IP = "ip"

QuotaEntity = tuple[tuple[str, str | None], ...]
"""The entity of a quota, as (type, name) pairs; a name of None is the default of the type."""


class QuotaMatch(IntEnum):
    """How the part of a filter matches."""

    EXACT = 0
    DEFAULT = 1
    ANY = 2


@dataclass(frozen=True, slots=True)
class QuotaFilter:
    """Entities that have this type, with this name, as default, or with any name."""

    entity_type: str
    match: QuotaMatch = QuotaMatch.ANY
    name: str | None = None


class QuotasArea(AdminArea):
    """The part of the Admin client for quotas."""

    async def describe_client_quotas(
        self, filters: Iterable[QuotaFilter] = (), *, strict: bool = False
    ) -> dict[QuotaEntity, dict[str, float]]:
        """Quotas whose entities match all filters; strictly, those without further types."""
        request = describe_client_quotas.DescribeClientQuotasRequest(
            components=[
                describe_client_quotas.ComponentData(
                    entity_type=each.entity_type, match_type=each.match, match=each.name
                )
                for each in filters
            ],
            strict=strict,
        )
        response = describe_client_quotas.DescribeClientQuotasResponse
        answer = await self._router.anyone(request, response)
        return {
            _entity((part.entity_type, part.entity_name) for part in entry.entity): {
                each.key: each.value for each in entry.values
            }
            for entry in answer.entries or ()
        }

    async def alter_client_quotas(
        self,
        changes: Mapping[QuotaEntity, Mapping[str, float | None]],
        *,
        validate_only: bool = False,
    ) -> Outcomes[QuotaEntity, None]:
        """Set quotas by name, as `producer_byte_rate`; None takes one away."""
        router = self._router
        wanted = {_entity(entity): quotas for entity, quotas in changes.items()}

        async def ask(node_id: int, keys: list[QuotaEntity]) -> Answers[QuotaEntity, None]:
            request = alter_client_quotas.AlterClientQuotasRequest(
                entries=[_entry(key, wanted[key]) for key in keys], validate_only=validate_only
            )
            response = alter_client_quotas.AlterClientQuotasResponse
            answer = await router.cluster.ask(node_id, request, response)
            return {
                _entity((part.entity_type, part.entity_name) for part in each.entity): outcome(
                    each.error_code, None, each.error_message
                )
                for each in answer.entries
            }

        return await router.each(wanted, Anywhere[QuotaEntity](router.cluster), ask)


def _entity(parts: Iterable[tuple[str, str | None]]) -> QuotaEntity:
    """In one order, so that equal entities are equal keys."""
    return tuple(sorted(parts, key=lambda part: part[0], reverse=True))


def _entry(
    entity: QuotaEntity, quotas: Mapping[str, float | None]
) -> alter_client_quotas.RequestEntryData:
    return alter_client_quotas.RequestEntryData(
        entity=[
            alter_client_quotas.EntityData(entity_type=kind, entity_name=name)
            for kind, name in entity
        ],
        ops=[
            alter_client_quotas.OpData(
                key=key, value=0.0 if value is None else value, remove=value is None
            )
            for key, value in quotas.items()
        ],
    )
