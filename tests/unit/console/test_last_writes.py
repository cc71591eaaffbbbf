"""Topics say when they were last written to."""

from moldau.client.admin.admin import Admin
from moldau.client.admin.topics import NewTopic
from moldau.client.producer.producer import Producer
from moldau.console.last_writes import LastWrites
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker


async def test_only_what_has_grown_is_asked_for(broker: EmbeddedBroker) -> None:
    servers = broker.bootstrap_servers
    writes = LastWrites()
    asked: list[int] = []
    places = [TopicPartition("written", 0), TopicPartition("written", 1)]
    async with (
        Admin(bootstrap_servers=servers) as admin,
        Producer(bootstrap_servers=servers) as producer,
    ):
        kept = {"retention.ms": "-1"}
        (await admin.create_topics([NewTopic("written", 2, configs=kept)])).check()
        await writes.update(admin, {"written": 0}, places)
        assert writes.times_ms == {}, "it is empty"
        for number, at_ms in ((0, 7000), (1, 5000)):
            await producer.send_and_wait("written", b"x", partition=number, timestamp_ms=at_ms)
        await writes.update(admin, {"written": 2}, places)
        assert writes.times_ms == {"written": 7000}
        end = broker.control("ListOffsets", lambda *_: asked.append(1))
        await writes.update(admin, {"written": 2}, places)
        assert not asked
        await producer.send_and_wait("written", b"x", partition=0, timestamp_ms=9000)
        await writes.update(admin, {"written": 3}, places)
        assert (writes.times_ms, len(asked)) == ({"written": 9000}, 1)
        end()
        await writes.update(admin, {}, [])
        assert writes.times_ms == {}
