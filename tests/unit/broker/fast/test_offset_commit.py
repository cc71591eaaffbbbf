"""The fast path of OffsetCommit gives the handler's answers and writes its records."""

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moldau.broker.fast import offset_commit as source
from moldau.broker.fast.shortcuts import OFFSET_COMMIT
from moldau.broker.metrics.request_times import times_of_api
from moldau.broker.requests.offset_requests import COMMITTED_TOGETHER
from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from moldau.net.answer import CloseConnection
from moldau.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from moldau.runtime.metrics import Counter, Metrics
from unit.broker.group_client import SETTINGS, find_coordinator, joined
from unit.broker.ways import Way
from unit.broker.world import CLIENT, World, broker_world, bytes_of, frame_of

FORMS = pytest.mark.parametrize("way", [Way.FAST, Way.UNCOMPILED])
VERSIONS = range(source.VERSION_MIN, source.VERSION_MAX + 1)

Offsets = list[tuple[str, list[tuple[int, int, int, str | None]]]]


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


async def prepare(world: World, partition_count: int = 2) -> str:
    """Topics, the coordinator, and a group with one member, whose id is returned."""
    await world.create_topic("t", partition_count)
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


async def play(
    frames: list[bytearray], way: Way, partition_count: int = 2
) -> tuple[list[object], int]:
    """The answers and all that they leave behind, and how many of them were the fast path's."""
    async with broker_world(SETTINGS, way=way) as world:
        await prepare(world, partition_count)
        answers = [await answer_to(bytearray(frame), world) for frame in frames]
        count = world.broker.groups.counts.committed_offsets
        answered = world.fast_paths.answered[OFFSET_COMMIT]
        return [*answers, count, *stored(world)], answered


async def answer_to(frame: bytearray, world: World) -> object:
    try:
        parts = await world.respond(CLIENT, frame)
    except CloseConnection:
        return "closed"
    return None if parts is None else bytes_of(parts)


@FORMS
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    "request_",
    [
        commit(PLAIN, group_id="simple"),
        commit(PLAIN, generation=1, member_id="nobody"),
        commit(PLAIN, group_id=""),
        commit(PLAIN, group_id="gr\N{LATIN SMALL LETTER U WITH DIAERESIS}n"),
        commit(PLAIN, group_id="x" * 300),
        commit(PLAIN, group_id="\N{LATIN SMALL LETTER U WITH DIAERESIS}" * 100),
        commit([("t", [(0, 5, -1, "x")])], group_id="simple"),
        commit(PLAIN, group_id="new", generation=7),
        commit([("t", [(0, 5, -1, "text"), (1, 5, -1, "\N{SNOWMAN}")])], group_id="simple"),
        commit([("t", [(0, 5, -1, "x" * 5_000), (1, 5, -1, "")])], group_id="simple"),
        commit([("t", [(0, 5, -1, ""), (0, 6, -1, "")])], group_id="simple"),
        commit([("t", [(0, 5, -1, ""), (999, 5, -1, "")])], group_id="simple"),
        commit([("nowhere", [(0, 5, -1, "")]), *PLAIN], group_id="simple"),
        commit([("nowhere", [(0, 5, -1, "")])], generation=9),
    ],
)
async def test_it_answers_and_stores_what_the_handler_does(
    way: Way, version: int, request_: OffsetCommitRequest
) -> None:
    frames = [frame_of(request_, version)]
    by_handler, _ = await play(frames, Way.HANDLER)
    assert await play(frames, way) == (by_handler, 1)


@FORMS
@pytest.mark.parametrize("version", VERSIONS)
async def test_the_name_of_a_client_may_be_short_or_missing(way: Way, version: int) -> None:
    request = commit(PLAIN, group_id="simple")
    clients = (None, "", "c", "client")
    frames = [frame_of(request, version, client_id=client_id) for client_id in clients]
    by_handler, _ = await play(frames, Way.HANDLER)
    assert await play(frames, way) == (by_handler, len(clients))


@pytest.mark.parametrize("version", VERSIONS)
async def test_after_any_change_of_a_byte_it_does_what_the_handler_does(version: int) -> None:
    whole = frame_of(commit([("t", [(0, 5, -1, "x")])], group_id="simple"), version)
    frames = [whole]
    for position in range(2, len(whole)):
        for value in {0, 1, 0x7F, 0x80, 0xFF, whole[position] ^ 1} - {whole[position]}:
            changed = bytearray(whole)
            changed[position] = value
            frames.append(changed)
    by_handler, _ = await play(frames, Way.HANDLER)
    for way in (Way.FAST, Way.UNCOMPILED):
        by_codec, answered = await play(frames, way)
        assert by_codec == by_handler
        assert answered > 100


@FORMS
async def test_a_version_that_it_does_not_know_is_left_to_the_handler(way: Way) -> None:
    newer = source.VERSION_MAX + 1
    async with broker_world(SETTINGS, way=way) as world:
        await prepare(world)
        frame = frame_of(commit(PLAIN, group_id="simple"), source.VERSION_MAX)
        frame[2:4] = newer.to_bytes(2, "big")
        counter = Counter()
        make = world.fast_paths.shortcuts[OFFSET_COMMIT]
        shortcut = make(times_of_api(Metrics(), "OffsetCommit"), {newer: counter})
        assert shortcut(CLIENT, memoryview(frame)) is None
        assert counter.value == 0


@FORMS
@pytest.mark.parametrize("version", VERSIONS)
async def test_it_answers_members(way: Way, version: int) -> None:
    async with broker_world(SETTINGS, way=way) as world:
        member_id = await prepare(world)
        request = commit(PLAIN, generation=1, member_id=member_id)
        response = await world.ask(request, version)
        codes = [each.error_code for topic in response.topics for each in topic.partitions]
        assert codes == [0, 0, 0]
        assert world.fast_paths.answered[OFFSET_COMMIT] == 1
        machine = world.broker.groups.shards.of("g").machine
        group = machine.find("g")
        assert group is not None
        assert group.group.offsets.committed[TopicPartition("t", 1)].offset == 2**40


@pytest.mark.parametrize("way", Way)
@pytest.mark.parametrize("version", VERSIONS[1:])
async def test_an_instance_without_a_name_is_not_none(way: Way, version: int) -> None:
    async with broker_world(SETTINGS, way=way) as world:
        member_id = await prepare(world)
        request = commit(PLAIN, generation=1, member_id=member_id, instance_id="")
        response = await world.ask(request, version)
        codes = {each.error_code for topic in response.topics for each in topic.partitions}
        assert codes == {ErrorCode.UNKNOWN_MEMBER_ID}


@FORMS
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    "request_",
    [
        commit([]),
        commit([("t", [(0, 5, -1, "x" * 20_000)])]),
    ],
    ids=["nothing", "long"],
)
async def test_what_it_does_not_read_is_left_to_the_handler(
    way: Way, version: int, request_: OffsetCommitRequest
) -> None:
    frames = [frame_of(request_, version)]
    by_handler, _ = await play(frames, Way.HANDLER)
    assert await play(frames, way) == (by_handler, 0)


@FORMS
@pytest.mark.parametrize(("more", "answered"), [(0, 1), (1, 0)])
async def test_more_than_are_stored_together_are_left_to_the_handler(
    way: Way, more: int, answered: int
) -> None:
    count = COMMITTED_TOGETHER + more
    request = commit([("t", [(number, 5, -1, "") for number in range(count)])], group_id="simple")
    frames = [frame_of(request, 8)]
    by_handler, _ = await play(frames, Way.HANDLER, count)
    assert await play(frames, way, count) == (by_handler, answered)


@FORMS
async def test_a_frame_cut_off_anywhere_or_too_long_is_left_to_the_handler(way: Way) -> None:
    frames = []
    for version in VERSIONS:
        frame = frame_of(commit(PLAIN, group_id="simple"), version)
        frames += [frame[:end] for end in range(4, len(frame))]
        frames.append(frame + b"\0")
        unnamed = frame_of(commit(PLAIN, group_id="simple"), version, client_id=None)
        unnamed[8:10] = (-2).to_bytes(2, "big", signed=True)
        frames.append(unnamed)
    by_handler, _ = await play(frames, Way.HANDLER)
    assert await play(frames, way) == (by_handler, 0)


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
def test_damaged_or_not_both_ways_do_the_same(way: Way, asked: list[Any]) -> None:
    frames = []
    for request, version, flip in asked:
        frame = frame_of(request, version)
        if flip is not None:
            # Not the API key: the fast path looks at nothing but OffsetCommit.
            frame[2 + int(flip[0] * (len(frame) - 2))] ^= flip[1]
        frames.append(frame)
    by_handler, _ = asyncio.run(play(frames, Way.HANDLER, 130))
    assert asyncio.run(play(frames, way, 130))[0] == by_handler


def test_a_partition_is_known_by_its_number() -> None:
    assert source.NEW_TUPLE(TopicPartition, ("t", 1)) == TopicPartition("t", 1)
