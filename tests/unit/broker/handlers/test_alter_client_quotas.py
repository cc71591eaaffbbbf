"""AlterClientQuotas: each entity is answered for by itself."""

import pytest

from moldau.coordination.layout.configs import ConfigEntity, decode_config
from moldau.errors import ErrorCode
from moldau.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    EntityData,
    OpData,
    RequestEntryData,
)
from unit.broker.world import World

NEWEST = 1


def entry(entity: dict[str, str | None], **quotas: float | None) -> RequestEntryData:
    return RequestEntryData(
        entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity.items()],
        ops=[
            OpData(key=key, value=value or 0.0, remove=value is None)
            for key, value in quotas.items()
        ],
    )


async def alter(
    world: World, *entries: RequestEntryData, version: int = NEWEST, validate_only: bool = False
) -> list[int]:
    request = AlterClientQuotasRequest(entries=list(entries), validate_only=validate_only)
    return [one.error_code for one in (await world.ask(request, version)).entries]


@pytest.mark.parametrize("version", range(NEWEST + 1))
async def test_quotas_are_written_where_kafka_has_them(world: World, version: int) -> None:
    quotas = entry({"user": "alice", "client-id": None}, producer_byte_rate=1000.0)
    assert await alter(world, quotas, version=version) == [ErrorCode.NONE]
    path = ConfigEntity.user_client("alice", None).path
    assert decode_config((await world.tree.get(path)).data) == {"producer_byte_rate": "1000"}


async def test_a_bad_entity_does_not_keep_a_good_one_from_its_quota(world: World) -> None:
    bad = entry({"user": "alice"}, no_such=1.0)
    good = entry({"user": "bob"}, consumer_byte_rate=1.0)
    assert await alter(world, bad, good) == [ErrorCode.INVALID_REQUEST, ErrorCode.NONE]


async def test_what_is_only_validated_is_not_written(world: World) -> None:
    quotas = entry({"user": "alice"}, producer_byte_rate=1000.0)
    assert await alter(world, quotas, validate_only=True) == [ErrorCode.NONE]
    assert await world.tree.exists(ConfigEntity("users", "alice").path) is None
