"""From frames to answers: what is answered, and what closes the connection."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from moldau.broker import dispatch
from moldau.broker.context import Context
from moldau.broker.routes import ROUTES
from moldau.errors import ErrorCode
from moldau.net.answer import CloseConnection
from moldau.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from moldau.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from moldau.protocol.messages.metadata import MetadataRequest
from moldau.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from moldau.protocol.messages.stop_replica import StopReplicaRequest
from moldau.protocol.messages.update_metadata import UpdateMetadataRequest
from moldau.runtime import turns
from unit.broker.sample_requests import fetch, fetch_partition, produce, produced
from unit.broker.world import CLIENT, World, batch_of, broker_world, frame_of, response_of

METADATA = 3
TESTS = Path(__file__).resolve().parents[2]


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with broker_world() as world:
        yield world


async def respond(world: World, frame: bytes | bytearray) -> object:
    return await world.respond(CLIENT, frame)


async def test_the_answer_has_the_requests_correlation_id_and_its_own_size(world: World) -> None:
    parts = await world.respond(CLIENT, frame_of(MetadataRequest(topics=[]), 9))
    assert parts is not None
    assert response_of(parts, METADATA, 9).controller_id == 0


async def test_a_client_without_an_id_is_served(world: World) -> None:
    assert await respond(world, frame_of(MetadataRequest(topics=[]), 9, client_id=None))


@pytest.mark.parametrize(
    ("api_key", "version", "reason"),
    [
        (-1, 0, "unknown API key"),
        (9999, 0, "unknown API key"),
        (3, 13, "version 13 is not served"),
        (3, -1, "version -1 is not served"),
        (0, 32767, "version 32767 is not served"),
        (57, 0, "not served"),
    ],
)
async def test_what_is_not_served_closes_the_connection(
    world: World, api_key: int, version: int, reason: str
) -> None:
    frame = frame_of(MetadataRequest(topics=[]), 12)
    frame[:2] = api_key.to_bytes(2, "big", signed=True)
    frame[2:4] = version.to_bytes(2, "big", signed=True)
    with pytest.raises(CloseConnection, match=reason):
        await respond(world, frame)


@pytest.mark.parametrize("request_", [MetadataRequest(topics=[]), fetch(fetch_partition())])
async def test_every_part_of_a_frame_closes_the_connection(world: World, request_: object) -> None:
    whole = frame_of(request_, 12)
    for size in range(len(whole)):
        with pytest.raises(CloseConnection):
            await respond(world, whole[:size])


async def test_bytes_after_the_request_are_ignored(world: World) -> None:
    assert await respond(world, frame_of(MetadataRequest(topics=[]), 9) + b"more")


async def test_an_error_without_a_place_in_the_answer_is_its_error_code(world: World) -> None:
    stale = UpdateMetadataRequest(
        controller_id=0, controller_epoch=0, topic_states=[], live_brokers=[]
    )
    for version in range(9):
        response = await world.ask(stale, version)
        assert response.error_code == ErrorCode.STALE_CONTROLLER_EPOCH


async def test_an_unforeseen_failure_is_an_unknown_error_and_logged(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.broker.registration = None  # type: ignore[assignment]
    stop = StopReplicaRequest(controller_id=0, controller_epoch=9)
    response = await world.ask(stop, 4)
    assert response.error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert "StopReplica from 10.0.0.9 failed" in caplog.text


async def test_a_fast_path_that_fails_is_told_as_a_handler_is_and_not_tried_again(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    await world.create_topic("t")
    partition = world.partition("t")
    # What fails here fails after the records were appended.
    world.broker.waiters = None  # type: ignore[assignment]
    answer = produced(await world.ask(produce(batch_of(b"a")), 9))
    assert answer.error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert partition.log.log_end_offset == 1
    assert "Produce from 10.0.0.9 failed" in caplog.text


async def test_requests_of_this_process_are_answered_without_a_frame(world: World) -> None:
    response = await world.dispatcher.answer(
        METADATA, MetadataRequest(topics=[]), Context(12, "here", CLIENT)
    )
    assert response.controller_id == 0  # type: ignore[attr-defined]


async def test_a_fast_path_that_fails_after_a_wait_is_answered_too(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    await world.create_topic("t", overrides={"flush.messages": "1"})

    async def failing(*_: object) -> None:
        await asyncio.sleep(0)
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr(type(world.broker.flusher), "flush", failing)
        (topic,) = (await world.ask(produce(batch_of(b"a")), 9)).responses
    assert topic.partition_responses[0].error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert world.fast_paths.answered[0] == 1
    assert world.partition("t").log.log_end_offset == 1
    assert "ZeroDivisionError" in caplog.text


async def test_requests_are_counted_by_api_and_version(world: World) -> None:
    await world.create_topic("t")
    for _ in range(2):
        await world.ask(produce(batch_of(b"a")), 9)
    text = world.broker.metrics.text()
    name = "kafka_network_requestmetrics_requests_total"
    assert f'{name}{{request="Produce",version="9"}} 2' in text
    assert 'kafka_network_requestmetrics_totaltimems_count{request="Produce"} 2' in text


async def test_without_the_tree_the_client_is_told_to_ask_again() -> None:
    async with broker_world({"request.timeout.ms": "50"}) as world:
        world.tree.suspend()
        topic = CreatableTopic(
            name="t", num_partitions=1, replication_factor=1, assignments=[], configs=[]
        )
        request = CreateTopicsRequest(topics=[topic], timeout_ms=10)
        (result,) = (await world.ask(request, 5)).topics
        assert result.error_code == ErrorCode.REQUEST_TIMED_OUT
        world.tree.resume()


async def test_a_long_request_gives_way_to_others(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "TURN_S", 0)
    rounds = 0

    def count() -> None:
        nonlocal rounds
        rounds += 1
        asyncio.get_running_loop().call_soon(count)

    count()
    request = ListOffsetsRequest(
        replica_id=-1,
        topics=[
            ListOffsetsTopic(
                name="t",
                partitions=[
                    ListOffsetsPartition(partition_index=number, timestamp=-1)
                    for number in range(30_000)
                ],
            )
        ],
    )
    response = await world.ask(request, 7)
    assert len(response.topics[0].partitions) == 30_000
    # 30,000 elements are read and written by 256 at a time, and looked up by eight.
    assert rounds > 2 * 30_000 // 256 + 30_000 // 8
    frame = frame_of(request, 7)
    with pytest.raises(CloseConnection, match="ListOffsets version 7"):
        await respond(world, frame[: len(frame) - 100])


def many_partitions(count: int) -> ListOffsetsRequest:
    partitions = [ListOffsetsPartition(partition_index=n, timestamp=-1) for n in range(count)]
    return ListOffsetsRequest(
        replica_id=-1, topics=[ListOffsetsTopic(name="t", partitions=partitions)]
    )


@pytest.mark.parametrize(
    ("bound", "reason"),
    [("ELEMENTS_MAX", "names more than 1000 things"), ("ANSWER_BYTES_MAX", "is too long")],
)
async def test_more_than_anyone_needs_closes_the_connection(
    world: World, monkeypatch: pytest.MonkeyPatch, bound: str, reason: str
) -> None:
    monkeypatch.setattr(dispatch, bound, 1_000)
    with pytest.raises(CloseConnection, match=reason):
        await respond(world, frame_of(many_partitions(5_000), 7))


async def test_cve_2026_111108_nested_small_elements_are_counted_together(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each list is short enough, and each element five bytes; all together would be memory."""
    monkeypatch.setattr(dispatch, "ELEMENTS_MAX", 1_000)
    partitions = [PartitionProduceData(index=0, records=None)] * 100
    topics = [TopicProduceData(name="", partition_data=partitions)] * 100
    request = ProduceRequest(acks=1, timeout_ms=1, topic_data=topics)
    with pytest.raises(CloseConnection, match="names more than 1000 things"):
        await respond(world, frame_of(request, 9))


def test_cve_2026_111073_telemetry_that_would_be_decompressed_is_not_served() -> None:
    assert not {route.api.key for route in ROUTES} & {71, 72}  # Get…Subscriptions, PushTelemetry


# Before them come `net/sockets.py` and `net/connection.py`. Fewer is better; more needs a reason.
@pytest.mark.parametrize(("kind", "files_max"), [("produce", 22), ("fetch", 20)])
def test_a_request_visits_few_files(kind: str, files_max: int) -> None:
    walk = subprocess.run(
        [sys.executable, "-m", "unit.broker.walk", kind],
        cwd=TESTS,
        env={**os.environ, "MOLDAU_PURE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    files = walk.stdout.split()
    assert "broker/dispatch.py" in files
    assert f"broker/requests/{kind}.py" in files
    assert len(files) <= files_max, files
