"""A broker from start to stop: on real files and sockets, and on disks that fail."""

import asyncio
import struct
from pathlib import Path

import pytest

from moldau.broker.main import Ports, running
from moldau.config.broker.startup import Startup, read_startup
from moldau.coordination.layout import brokers as broker_nodes
from moldau.coordination.memory import MemoryEnsemble, MemoryTree
from moldau.errors import ErrorCode, KafkaError
from moldau.log.directory import NotOurs
from moldau.protocol.apis import API_BY_KEY
from moldau.protocol.codec import decode
from moldau.protocol.headers import decode_response_header
from moldau.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from moldau.records.compression import Codec
from moldau.records.legacy import write_message_set
from moldau.records.record import Record
from moldau.runtime.clock import SystemClock
from unit.broker.sample_requests import fetch, fetch_partition, fetched, produce, produced
from unit.broker.world import Setting, batch_of, broker_world, frame_of

LOCALHOST = "127.0.0.1"
OLD_MESSAGE = bytes(write_message_set([Record(0, 1, None, b"v")], magic=1, codec=Codec.NONE))


def startup(tmp_path: Path, **settings: str) -> Startup:
    texts = {"log.dirs": str(tmp_path / "deep" / "logs"), "listeners": f"PLAINTEXT://{LOCALHOST}:0"}
    return read_startup(
        {**texts, **{name.replace("_", "."): text for name, text in settings.items()}}
    )


async def exchange(port: int, request: object, api_key: int, version: int) -> object:
    """Ask over a connection of its own."""
    reader, writer = await asyncio.open_connection(LOCALHOST, port)
    frame = frame_of(request, version)
    writer.write(struct.pack(">i", len(frame)) + frame)
    (size,) = struct.unpack(">i", await reader.readexactly(4))
    answer = await reader.readexactly(size)
    writer.close()
    await writer.wait_closed()
    _, position = decode_response_header(answer, api_key, version)
    response: object
    response, _ = decode(API_BY_KEY[api_key].response, version, answer, position)
    return response


async def test_what_was_produced_is_there_after_a_restart(tmp_path: Path) -> None:
    async with running(startup(tmp_path), Ports()) as first:
        port = first.ports["PLAINTEXT"]
        topics = [MetadataRequestTopic(name="t")]
        response = await exchange(port, MetadataRequest(topics=topics), 3, 9)
        (broker,) = response.brokers  # type: ignore[attr-defined]
        assert (broker.host, broker.port) == (LOCALHOST, port)
        answer = await exchange(port, produce(batch_of(b"a"), acks=-1), 0, 9)
        assert produced(answer).base_offset == 0  # type: ignore[arg-type]
        cluster_id = first.broker.cluster_id
    assert (tmp_path / "deep" / "logs" / ".kafka_cleanshutdown").exists()
    async with running(startup(tmp_path), Ports()) as second:
        assert second.broker.cluster_id == cluster_id
        assert await second.broker.topics.until_led("t", 1, timeout_s=10)
        answer = await exchange(second.ports["PLAINTEXT"], fetch(fetch_partition()), 1, 11)
        assert len(fetched(answer)[0].records or b"") == len(batch_of(b"a"))


async def test_a_session_that_is_lost_during_the_start_is_followed_by_another(
    tmp_path: Path,
) -> None:
    ensemble = MemoryEnsemble(SystemClock())
    opened: list[MemoryTree] = []

    async def open_tree(*_: object) -> MemoryTree:
        opened.append(ensemble.connect())
        if len(opened) == 1:
            # Suspended at first, as long as a dead connection looks like a slow one.
            opened[0].suspend()
            asyncio.get_running_loop().call_later(0.01, ensemble.expire, opened[0].session_id)
        return opened[-1]

    settings = startup(tmp_path, zookeeper_connect="memory:2181", broker_id="3")
    async with running(settings, Ports(open_tree=open_tree)) as started:
        assert len(opened) == 2
        stat = await ensemble.connect().exists(broker_nodes.id_path(3))
        assert stat is not None
        assert stat.ephemeral_owner == opened[1].session_id
        assert started.broker.registration.epoch == stat.czxid


async def test_two_brokers_cannot_share_a_directory(tmp_path: Path) -> None:
    async with running(startup(tmp_path), Ports()):
        with pytest.raises(Exception, match=r"in use|locked"):
            async with running(startup(tmp_path), Ports()):
                pass


async def test_another_brokers_directory_is_refused() -> None:
    setting = Setting()
    async with broker_world({"broker.id": "1"}, setting):
        pass
    with pytest.raises(NotOurs, match="is of broker 1, this is 2"):
        async with broker_world({"broker.id": "2"}, setting):
            pass


async def test_a_broken_directory_leaves_the_others_in_service(
    caplog: pytest.LogCaptureFixture,
) -> None:
    settings = {"log.dirs": "/one,/two"}
    setting = Setting()
    async with broker_world(settings, setting) as world:
        await world.create_topic("t", 2)
        where = {number: world.partition("t", number).log.folder.path for number in (0, 1)}
    broken = next(number for number, path in where.items() if path.startswith("/two"))
    setting.disk.rename("/two", "/elsewhere")
    setting.disk.open_append("/two").append(b"not a directory")
    async with broker_world(settings, setting) as world:
        request = fetch(fetch_partition(0), fetch_partition(1))
        answers = fetched(await world.ask(request, 12))
        assert answers[1 - broken].error_code == ErrorCode.NONE
        assert answers[broken].error_code != ErrorCode.NONE
        assert world.broker.replicas.find(world.partition("t", 1 - broken).topic_partition)
    assert "Failed to load log directory /two, starting without it" in caplog.text


async def test_a_log_that_cannot_be_opened_leaves_the_others_in_service(
    caplog: pytest.LogCaptureFixture,
) -> None:
    setting = Setting()
    async with broker_world(setting=setting) as world:
        await world.create_topic("t", 2)
        path = world.partition("t", 0).log.folder.path
    segment = setting.disk.open_append(f"{path}/00000000000000000000.log")
    segment.append(OLD_MESSAGE)
    async with broker_world(setting=setting) as world:
        answers = fetched(await world.ask(fetch(fetch_partition(0), fetch_partition(1)), 12))
        assert answers[0].error_code == ErrorCode.KAFKA_STORAGE_ERROR
        assert answers[1].error_code == ErrorCode.NONE
        refused = produced(await world.ask(produce(batch_of(b"a")), 9))
        assert refused.error_code == ErrorCode.KAFKA_STORAGE_ERROR
        taken = produced(await world.ask(produce(batch_of(b"a"), number=1), 9))
        assert taken.error_code == ErrorCode.NONE
    assert segment.read(0, 1000) == OLD_MESSAGE
    assert "Failed to load t-0" in caplog.text
    assert "before Kafka 0.11" in caplog.text


async def test_without_any_directory_there_is_no_broker() -> None:
    setting = Setting()
    setting.disk.open_append("/logs").append(b"not a directory")
    with pytest.raises((KafkaError, OSError)):
        async with broker_world(setting=setting):
            pass


async def test_a_broker_that_starts_knows_its_topics_before_it_serves() -> None:
    setting = Setting()
    async with broker_world(setting=setting) as world:
        for number in range(30):
            await world.create_topic(f"t{number}")
    async with broker_world(setting=setting) as world:
        assert len(world.broker.metadata.image.topics) == 30
        for number in range(30):
            assert world.partition(f"t{number}").is_leader
