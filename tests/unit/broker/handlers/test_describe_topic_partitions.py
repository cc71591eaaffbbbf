"""DescribeTopicPartitions: topics in pages."""

from moldau.errors import ErrorCode
from moldau.protocol.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    TopicRequest,
)
from unit.broker.world import World, broker_world


async def describe(
    world: World, *names: str, limit: int = 2000, cursor: tuple[str, int] | None = None
) -> DescribeTopicPartitionsResponse:
    request = DescribeTopicPartitionsRequest(
        topics=[TopicRequest(name=name) for name in names],
        response_partition_limit=limit,
        cursor=cursor and Cursor(topic_name=cursor[0], partition_index=cursor[1]),
    )
    response: DescribeTopicPartitionsResponse = await world.ask(request, 0)
    return response


def shown(response: DescribeTopicPartitionsResponse) -> list[tuple[str | None, list[int]]]:
    return [
        (topic.name, [partition.partition_index for partition in topic.partitions])
        for topic in response.topics
    ]


async def test_a_topic_is_described_with_its_leaders(world: World) -> None:
    topic_id = await world.create_topic("t")
    (topic,) = (await describe(world, "t")).topics
    assert (topic.error_code, topic.topic_id) == (ErrorCode.NONE, topic_id)
    (partition,) = topic.partitions
    assert (partition.leader_id, partition.replica_nodes, partition.isr_nodes) == (0, [0], [0])
    assert topic.topic_authorized_operations > 0


async def test_without_names_all_topics_come_in_order(world: World) -> None:
    await world.create_topic("b", 2)
    await world.create_topic("a")
    response = await describe(world)
    assert shown(response) == [("a", [0]), ("b", [0, 1])]
    assert response.next_cursor is None


async def test_pages_go_on_where_the_last_one_ended(world: World) -> None:
    await world.create_topic("a", 3)
    await world.create_topic("b", 2)
    seen: list[tuple[str | None, int]] = []
    cursor = None
    for _ in range(3):
        response = await describe(world, limit=2, cursor=cursor)
        seen += [(name, number) for name, numbers in shown(response) for number in numbers]
        if response.next_cursor is not None:
            cursor = (response.next_cursor.topic_name, response.next_cursor.partition_index)
    assert seen == [("a", 0), ("a", 1), ("a", 2), ("b", 0), ("b", 1)]
    assert response.next_cursor is None


async def test_the_broker_has_a_limit_of_its_own() -> None:
    async with broker_world({"max.request.partition.size.limit": "2"}) as world:
        await world.create_topic("a", 3)
        assert shown(await describe(world)) == [("a", [0, 1])]


async def test_a_topic_that_went_between_two_pages_is_skipped(world: World) -> None:
    await world.create_topic("c")
    assert shown(await describe(world, cursor=("b", 5))) == [("c", [0])]


async def test_a_topic_that_is_not_there_is_unknown(world: World) -> None:
    (topic,) = (await describe(world, "none")).topics
    assert (topic.name, topic.error_code) == ("none", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


async def test_a_cursor_before_the_first_partition_is_refused(world: World) -> None:
    (topic,) = (await describe(world, "t", cursor=("t", -1))).topics
    assert topic.error_code == ErrorCode.INVALID_REQUEST
