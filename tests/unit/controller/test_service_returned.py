"""Leaders that begin another life while nobody is controller."""

import pytest

from moldau.protocol.messages.leader_and_isr import LeaderAndIsrRequest
from unit.controller.brokers import Cluster, settled


@pytest.mark.parametrize("isr", [(2, 1, 3), (2,)])
async def test_a_leader_that_began_another_life_without_a_controller_has_a_new_epoch(
    isr: tuple[int, ...],
) -> None:
    """It may have lost with its power what followers have, who cannot tell by the old epoch."""
    cluster = await Cluster.create(1, 2, 3)
    async with cluster.controller(1):
        await cluster.create_topic("t", (2, 1, 3), (1, 3), (2,))
        await settled()
        await cluster.write_isr("t", *isr)
    cluster.leave(2)
    await cluster.join(2)
    del cluster.brokers.requests[:]
    async with cluster.controller(1):
        await settled()
        first, second, third = [await cluster.state("t", number) for number in range(3)]
        if len(isr) > 1:
            assert (first.leader, first.leader_epoch, first.isr) == (1, 1, (1, 3))
        else:
            assert (first.leader, first.leader_epoch, first.isr) == (2, 1, (2,))
        # What others lead, and what nobody else has, is as it was.
        assert (second.leader, second.leader_epoch) == (1, 0)
        assert (third.leader, third.leader_epoch) == (2, 0)
        # Nobody hears of the lead in the old epoch.
        told = {
            state.leader_epoch
            for request in cluster.brokers.sent_to(2, LeaderAndIsrRequest)
            for topic in request.topic_states
            for state in topic.partition_states
            if state.partition_index == 0
        }
        assert told == {1}
