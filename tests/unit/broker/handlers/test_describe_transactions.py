"""DescribeTransactions: what tools see of transactional ids."""

from moldau.errors import ErrorCode
from moldau.protocol.messages.describe_transactions import (
    DescribeTransactionsRequest,
    TopicData,
    TransactionState,
)
from unit.broker.transaction_client import SETTINGS, T0, Client, begin
from unit.broker.world import START_MS, World, broker_world


async def describe(world: World, *ids: str) -> list[TransactionState]:
    response = await world.ask(DescribeTransactionsRequest(transactional_ids=list(ids)), 0)
    states: list[TransactionState] = response.transaction_states
    return states


async def test_a_transaction_is_shown_with_its_partitions() -> None:
    async with broker_world(SETTINGS) as world:
        await begin(world)
        client = Client(world)
        await client.init()
        await client.add(T0)
        (state,) = await describe(world, "tx")
        assert state == TransactionState(
            error_code=ErrorCode.NONE,
            transactional_id="tx",
            transaction_state="Ongoing",
            transaction_timeout_ms=60_000,
            transaction_start_time_ms=START_MS,
            producer_id=client.identity.producer_id,
            producer_epoch=0,
            topics=[TopicData(topic="t", partitions=[0])],
        )


async def test_each_unknown_id_is_answered_for_itself() -> None:
    async with broker_world(SETTINGS) as world:
        await begin(world)
        states = await describe(world, "", "nobody")
        assert [state.error_code for state in states] == [
            ErrorCode.INVALID_REQUEST,
            ErrorCode.TRANSACTIONAL_ID_NOT_FOUND,
        ]


async def test_without_a_coordinator_the_answer_says_so() -> None:
    async with broker_world(SETTINGS) as world:
        (state,) = await describe(world, "tx")
        assert state.error_code == ErrorCode.NOT_COORDINATOR
