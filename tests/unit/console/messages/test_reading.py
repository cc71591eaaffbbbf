"""A reader goes from offset to offset, and creates nothing."""

from contextlib import aclosing

import pytest

from moldau.client.admin.admin import Admin
from moldau.client.admin.topics import NewTopic
from moldau.client.arrow.tables import read_table
from moldau.client.producer.producer import Producer
from moldau.console.messages import reading as module
from moldau.console.messages.reading import reading
from moldau.errors import KafkaError
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker


async def test_everything_between_is_read_and_again(broker: EmbeddedBroker) -> None:
    settings = {"bootstrap.servers": broker.bootstrap_servers}
    place = TopicPartition("between", 0)
    async with Admin(settings) as admin:
        (await admin.create_topics([NewTopic("between", 1)])).check()
    async with Producer(settings) as producer:
        for each in range(6):
            await producer.send_and_wait("between", b"%d" % each)
    async with reading(settings, is_uncommitted=False) as reader:
        for start, end in ((1, 4), (3, 6), (2, 2)):
            values: list[bytes] = []
            async with aclosing(reader.between({place: start}, {place: end})) as portions:
                async for handed in portions:
                    table = read_table(handed, ["value"], end_offsets={place: end})
                    values += table["value"].to_pylist()
            assert values == [b"%d" % each for each in range(start, end)]


async def test_silence_has_an_end(broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SILENCE_S", 0.0)
    monkeypatch.setattr(module, "_POLL_S", 0.0)
    settings = {"bootstrap.servers": broker.bootstrap_servers}
    place = TopicPartition("silent", 0)
    async with Admin(settings) as admin:
        (await admin.create_topics([NewTopic("silent", 1)])).check()
    async with reading(settings, is_uncommitted=False) as reader:
        with pytest.raises(KafkaError, match="no records come of silent-0"):
            async for _ in reader.between({place: 0}, {place: 5}):
                pass
