"""Requests that need no socket."""

from moldau.broker.in_process import InProcess
from moldau.errors import ErrorCode
from moldau.protocol.messages.stop_replica import StopReplicaRequest, StopReplicaResponse
from unit.broker.world import broker_world


async def test_a_letter_is_answered_by_the_handler() -> None:
    async with broker_world() as world:
        sender = InProcess(world.dispatcher)
        for controller_epoch, code in ((0, ErrorCode.STALE_CONTROLLER_EPOCH), (9, ErrorCode.NONE)):
            request = StopReplicaRequest(controller_id=0, controller_epoch=controller_epoch)
            response = await sender.send(request)
            assert isinstance(response, StopReplicaResponse)
            assert response.error_code == code
