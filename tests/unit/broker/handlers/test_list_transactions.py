"""ListTransactions: the transactions of a broker, by state, producer and age."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from moldau.errors import ErrorCode
from moldau.protocol.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from unit.broker.transaction_client import SETTINGS, T0, Client, begin
from unit.broker.world import World, broker_world


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with broker_world(SETTINGS) as world:
        await begin(world)
        await Client(world, "empty").init()
        client = Client(world, "open")
        await client.init()
        await client.add(T0)
        yield world


async def ask(world: World, version: int = 1, **filters: Any) -> ListTransactionsResponse:
    request = ListTransactionsRequest(**{"state_filters": [], "producer_id_filters": [], **filters})
    response: ListTransactionsResponse = await world.ask(request, version)
    assert response.error_code == ErrorCode.NONE
    return response


def names(response: ListTransactionsResponse) -> list[str]:
    return [state.transactional_id for state in response.transaction_states]


@pytest.mark.parametrize("version", range(2))
async def test_all_are_listed(world: World, version: int) -> None:
    response = await ask(world, version)
    found = [(one.transactional_id, one.transaction_state) for one in response.transaction_states]
    assert found == [("empty", "Empty"), ("open", "Ongoing")]


async def test_states_that_do_not_exist_are_named(world: World) -> None:
    response = await ask(world, state_filters=["Ongoing", "Sleeping"])
    assert names(response) == ["open"]
    assert response.unknown_state_filters == ["Sleeping"]
    assert names(await ask(world, state_filters=["Sleeping"])) == []


async def test_producers_and_ages_are_filtered(world: World) -> None:
    producer_id = world.broker.transactions.describe("open").producer_id
    assert names(await ask(world, producer_id_filters=[producer_id])) == ["open"]
    assert names(await ask(world, state_filters=["Ongoing"], duration_filter=1000)) == []
    world.clock.time_ms += 2000
    assert names(await ask(world, state_filters=["Ongoing"], duration_filter=1000)) == ["open"]
