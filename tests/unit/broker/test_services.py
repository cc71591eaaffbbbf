"""Tasks that end together."""

import asyncio

import pytest

from moldau.broker.services import Services


async def test_services_end_with_their_block() -> None:
    ended = []

    async def service() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("service")

    async with Services() as services:
        services.start(service())
        services.start(service())
        await asyncio.sleep(0)
        assert ended == []
    assert ended == ["service", "service"]


async def test_the_failure_of_one_ends_the_block() -> None:
    async def failing() -> None:
        raise ValueError("broken")

    async def block() -> None:
        async with Services() as services:
            services.start(failing())
            await asyncio.Event().wait()

    with pytest.raises(ExceptionGroup) as failure:
        await block()
    assert [type(one) for one in failure.value.exceptions] == [ValueError]
