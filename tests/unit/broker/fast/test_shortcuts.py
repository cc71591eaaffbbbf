"""The dispatcher tries the short way first, and a test that comes between turns it off."""

from moldau.broker.fast.shortcuts import PRODUCE
from unit.broker.requests import produce, produced
from unit.broker.world import batch_of, broker_world


async def test_plain_requests_go_past_the_handler_and_are_counted() -> None:
    async with broker_world() as world:
        await world.create_topic("t")
        for offset in range(3):
            answer = produced(await world.ask(produce(batch_of(b"a")), 9))
            assert answer.base_offset == offset
        text = world.broker.metrics.text()
        assert 'requests_total{request="Produce",version="9"} 3' in text
        assert 'totaltimems_count{request="Produce"} 3' in text
        assert world.broker.traffic.all.messages_in.value == 3


async def test_a_wrapped_handler_sees_every_request() -> None:
    seen = []
    async with broker_world() as world:
        await world.create_topic("t")
        await world.ask(produce(batch_of(b"a")), 9)

        def wrapper(handle):  # type: ignore[no-untyped-def]
            def handled(request, context, broker):  # type: ignore[no-untyped-def]
                seen.append(request)
                return handle(request, context, broker)

            return handled

        world.dispatcher.wrap(PRODUCE, wrapper)
        await world.ask(produce(batch_of(b"a")), 9)
    assert len(seen) == 1
