"""The parts of a broker, as handlers find them."""

from unit.broker.world import broker_world


async def test_a_broker_knows_itself_and_its_parts() -> None:
    async with broker_world({"broker.id": "7", "num.partitions": "4"}) as world:
        broker = world.broker
        assert (broker.id, broker.config.general.num_partitions) == (7, 4)
        assert broker.controller.is_controller
        assert broker.metadata.image.controller_id == 7
        assert broker.registration.epoch > 0
