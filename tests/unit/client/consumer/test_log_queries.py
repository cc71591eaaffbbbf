"""Where logs begin and end, for those who do not read them too."""

from moldau.client.consumer.consumer import Consumer
from moldau.client.record import OffsetAndTimestamp
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker
from unit.client.reading import write

T0 = TopicPartition("t", 0)


async def test_a_topic_can_be_asked_about_that_is_not_read(kafka: EmbeddedBroker) -> None:
    await write(kafka, "t", range(5))
    async with Consumer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as consumer:
        assert await consumer.partitions_of("t") == [T0]
        assert await consumer.beginning_offsets([T0]) == {T0: 0}
        assert await consumer.end_offsets([T0]) == {T0: 5}
        found = await consumer.offsets_for_times({T0: 1003})
        assert found == {T0: OffsetAndTimestamp(3, 1003)}
        assert await consumer.offsets_for_times({T0: 9999}) == {T0: None}
