"""Letters that need no socket."""

import pytest

from moldau.broker.in_process import InProcess
from moldau.errors import ErrorCode
from moldau.protocol.messages.stop_replica import StopReplicaRequest, StopReplicaResponse
from unit.broker.world import broker_world


async def test_a_letter_is_answered_by_the_handler() -> None:
    async with broker_world() as world:
        sender = InProcess(world.broker.id, world.dispatcher)
        for controller_epoch, code in ((0, ErrorCode.STALE_CONTROLLER_EPOCH), (9, ErrorCode.NONE)):
            request = StopReplicaRequest(controller_id=0, controller_epoch=controller_epoch)
            response = await sender.send(0, request)
            assert isinstance(response, StopReplicaResponse)
            assert response.error_code == code


async def test_there_is_nobody_else() -> None:
    async with broker_world() as world:
        sender = InProcess(world.broker.id, world.dispatcher)
        with pytest.raises(AssertionError):
            await sender.send(5, StopReplicaRequest(controller_id=0, controller_epoch=1))
