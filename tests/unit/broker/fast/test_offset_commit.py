"""The short way of OffsetCommit gives the handler's answers and writes its records, or neither."""

import asyncio
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moldau.broker.fast import offset_commit as source
from moldau.broker.metrics.request_times import RequestTimes
from moldau.model import TopicPartition
from moldau.net.answer import CloseConnection
from moldau.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from moldau.replication.partition import PartitionState
from moldau.runtime import native
from moldau.runtime.metrics import Counter, Metrics
from unit.broker.group_client import SETTINGS, find_coordinator, joined
from unit.broker.world import CLIENT, World, broker_world, bytes_of, frame_of

API_KEY = 8
compiled = native.kernel("moldau.broker.fast._offset_commit", "moldau.broker.fast.offset_commit")
FORMS = pytest.mark.parametrize("module", [source, compiled], ids=["source", "compiled"])
VERSIONS = range(source.VERSION_MIN, source.VERSION_MAX + 1)

Offsets = list[tuple[str, list[tuple[int, int, int, str | None]]]]


def express(world: World, module: ModuleType) -> Any:
    counters = {version: Counter() for version in range(10)}
    return module.CommitExpress(world.broker, RequestTimes(Metrics(), "OffsetCommit"), counters)


def commit(
    offsets: Offsets,
    *,
    group_id: str = "g",
    generation: int = -1,
    member_id: str = "",
    instance_id: str | None = None,
) -> OffsetCommitRequest:
    topics = [
        OffsetCommitRequestTopic(
            name=name,
            partitions=[
                OffsetCommitRequestPartition(
                    partition_index=index,
                    committed_offset=offset,
                    committed_leader_epoch=epoch,
                    committed_metadata=text,
                )
                for index, offset, epoch, text in partitions
            ],
        )
        for name, partitions in offsets
    ]
    return OffsetCommitRequest(
        group_id=group_id,
        generation_id_or_member_epoch=generation,
        member_id=member_id,
        group_instance_id=instance_id,
        topics=topics,
    )


PLAIN: Offsets = [("t", [(0, 5, -1, ""), (1, 2**40, 3, None)]), ("u", [(0, 7, 0, "")])]


async def prepare(world: World) -> str:
    """Topics, the coordinator, and a group with one member, whose id is returned."""
    await world.create_topic("t", 130)
    await world.create_topic("u")
    await find_coordinator(world)
    return await joined(world)


def stored(world: World) -> list[object]:
    """All that a commit can change: the records, and what the groups know of them."""
    machine = world.broker.groups.shards.of("g").machine
    known = [
        (group_id, found.group.offsets.committed)
        for group_id in ("g", "simple")
        if (found := machine.find(group_id)) is not None
    ]
    log = world.partition("__consumer_offsets").log
    return [known, [segment.file().read(0, segment.size) for segment in log.segments]]


@FORMS
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("is_member", [True, False])
async def test_a_plain_commit_is_answered_and_stored(
    module: ModuleType, version: int, is_member: bool
) -> None:
    async def play(*, is_short: bool) -> list[object]:
        async with broker_world(SETTINGS) as world:
            world.dispatcher.wrap(API_KEY, lambda handle: handle)
            member_id = await prepare(world)
            request = commit(PLAIN, group_id="simple")
            if is_member:
                request = commit(PLAIN, generation=1, member_id=member_id)
            frame = frame_of(request, version)
            way = express(world, module)
            answer = way.respond(CLIENT, memoryview(frame)) if is_short else None
            if answer is None:
                assert not is_short
                answer = bytes_of(await world.respond(CLIENT, frame))
            count = world.broker.groups.counts.committed_offsets
            return [bytes(answer), count, *stored(world)]

    assert await play(is_short=True) == await play(is_short=False)


@FORMS
@pytest.mark.parametrize("version", [7, 8])
@pytest.mark.parametrize(
    "request_",
    [
        commit([]),
        commit([("t", [])]),
        commit([("nowhere", [(0, 5, -1, "")])]),
        commit([("t", [(0, 5, -1, ""), (999, 5, -1, "")])]),
        commit([("t", [(0, 5, -1, ""), (0, 6, -1, "")])]),
        commit([("t", [(0, 5, -1, "text")])]),
        commit(PLAIN, group_id=""),
        commit(PLAIN, group_id="gr\N{LATIN SMALL LETTER U WITH DIAERESIS}n"),
        commit(PLAIN, group_id="x" * 300),
        commit(PLAIN, instance_id="static"),
        commit(PLAIN, generation=7, member_id="stranger"),
        commit(PLAIN, group_id="new", generation=7),
    ],
)
async def test_what_is_not_plain_is_left_alone(
    module: ModuleType, version: int, request_: OffsetCommitRequest
) -> None:
    async with broker_world(SETTINGS) as world:
        await prepare(world)
        before = stored(world)
        frame = memoryview(frame_of(request_, version))
        assert express(world, module).respond(CLIENT, frame) is None
        assert stored(world) == before


@FORMS
async def test_who_would_have_to_wait_for_others_is_left_alone(module: ModuleType) -> None:
    async with broker_world(SETTINGS) as world:
        await prepare(world)
        way = express(world, module)
        partition = world.partition("__consumer_offsets")
        partition.lead(PartitionState(1, 0, 1, (0, 1), 0, (0, 1)), now_ms=0)
        end_offset = partition.log.log_end_offset
        assert way.respond(CLIENT, memoryview(frame_of(commit(PLAIN), 8))) is None
        assert partition.log.log_end_offset == end_offset


@FORMS
async def test_a_broker_that_coordinates_nothing_leaves_it_alone(module: ModuleType) -> None:
    async with broker_world(SETTINGS) as world:
        await world.create_topic("t", 2)
        await world.create_topic("u")
        assert (
            express(world, module).respond(CLIENT, memoryview(frame_of(commit(PLAIN), 8))) is None
        )


@FORMS
async def test_a_frame_cut_off_anywhere_is_left_alone(module: ModuleType) -> None:
    async with broker_world(SETTINGS) as world:
        await prepare(world)
        way = express(world, module)
        for version in VERSIONS:
            frame = frame_of(commit(PLAIN, group_id="simple"), version)
            for end in range(len(frame)):
                assert way.respond(CLIENT, memoryview(frame[:end])) is None
            assert way.respond(CLIENT, memoryview(frame + b"\0")) is None


partitions = st.lists(
    st.tuples(
        st.integers(0, 129),
        st.integers(0, 2**63 - 1),
        st.integers(-1, 2**31 - 1),
        st.sampled_from(["", "", None, "text"]),
    ),
    max_size=140,
)
requests = st.builds(
    commit,
    st.lists(st.tuples(st.sampled_from(["t", "u", "v"]), partitions), max_size=3),
    group_id=st.sampled_from(["g", "simple", "x" * 255]),
    generation=st.sampled_from([-1, -1, 1, 2]),
    member_id=st.sampled_from(["", "somebody"]),
)
flips = st.none() | st.tuples(st.floats(0, 1, exclude_max=True), st.integers(1, 255))


@FORMS
@settings(max_examples=15)
@given(st.lists(st.tuples(requests, st.integers(5, 9), flips), max_size=6))
def test_damaged_or_not_both_ways_do_the_same(module: ModuleType, asked: list[Any]) -> None:
    frames = []
    for request, version, flip in asked:
        frame = frame_of(request, version)
        if flip is not None:
            # Not the API key: the short way looks at nothing but OffsetCommit.
            frame[2 + int(flip[0] * (len(frame) - 2))] ^= flip[1]
        frames.append(frame)

    async def play(*, is_short: bool) -> list[object]:
        async with broker_world(SETTINGS) as world:
            await prepare(world)
            way = express(world, module) if is_short else None
            world.dispatcher.wrap(API_KEY, lambda handle: handle)
            answers = [await answer_to(bytearray(frame), world, way) for frame in frames]
            return [*answers, *stored(world)]

    assert asyncio.run(play(is_short=True)) == asyncio.run(play(is_short=False))


async def answer_to(frame: bytearray, world: World, way: Any | None) -> object:
    answer = None if way is None else way.respond(CLIENT, memoryview(frame))
    if answer is not None:
        return bytes(answer)
    try:
        parts = await world.respond(CLIENT, frame)
    except CloseConnection:
        return "closed"
    return None if parts is None else bytes_of(parts)


def test_a_partition_is_known_by_its_number() -> None:
    assert source.NEW_TUPLE(TopicPartition, ("t", 1)) == TopicPartition("t", 1)
