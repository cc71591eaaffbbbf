"""InitProducerId: ids for idempotent producers."""

import pytest

from moldau.errors import ErrorCode
from moldau.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from unit.broker.world import World

NEWEST = 5


async def ask(
    world: World, transactional_id: str | None = None, *, version: int = NEWEST, **more: int
) -> InitProducerIdResponse:
    request = InitProducerIdRequest(
        transactional_id=transactional_id, transaction_timeout_ms=1000, **more
    )
    response: InitProducerIdResponse = await world.ask(request, version)
    return response


@pytest.mark.parametrize("version", range(NEWEST + 1))
async def test_every_producer_gets_an_id_of_its_own(world: World, version: int) -> None:
    first = await ask(world, version=version)
    second = await ask(world, version=version)
    assert first.error_code == ErrorCode.NONE
    assert (first.producer_id, first.producer_epoch) == (0, 0)
    assert (second.producer_id, second.producer_epoch) == (1, 0)


async def test_an_empty_transactional_id_is_refused(world: World) -> None:
    response = await ask(world, "")
    assert (response.error_code, response.producer_id) == (ErrorCode.INVALID_REQUEST, -1)


async def test_an_id_without_an_epoch_is_refused(world: World) -> None:
    response = await ask(world, producer_id=5)
    assert (response.error_code, response.producer_epoch) == (ErrorCode.INVALID_REQUEST, -1)
