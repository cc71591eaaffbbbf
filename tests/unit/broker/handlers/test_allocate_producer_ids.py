"""AllocateProducerIds: the controller claims blocks for others."""

from moldau.errors import ErrorCode
from moldau.protocol.messages.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)
from unit.broker.world import World


async def ask(world: World, broker_id: int, epoch: int) -> AllocateProducerIdsResponse:
    request = AllocateProducerIdsRequest(broker_id=broker_id, broker_epoch=epoch)
    answer: AllocateProducerIdsResponse = await world.ask(request, 0)
    return answer


async def test_every_block_is_given_once(world: World) -> None:
    epoch = world.broker.registration.epoch
    own = await world.broker.producer_ids.next()
    first, second = await ask(world, 0, epoch), await ask(world, 0, epoch)
    assert first.error_code == ErrorCode.NONE
    assert first.producer_id_len == second.producer_id_len == 1000
    assert (own, first.producer_id_start, second.producer_id_start) == (0, 1000, 2000)


async def test_only_registered_brokers_get_one(world: World) -> None:
    epoch = world.broker.registration.epoch
    assert (await ask(world, 7, epoch)).error_code == ErrorCode.BROKER_ID_NOT_REGISTERED
    assert (await ask(world, 0, epoch - 1)).error_code == ErrorCode.STALE_BROKER_EPOCH
