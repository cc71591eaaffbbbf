"""Produced records, right and wrong: our answer and what we store, against Apache's own log.

Ours come through the dispatcher of a broker in memory, by the handler and by the fast path.
"""

import asyncio
import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from conformance.apache.lines import JavaProgram
from conformance.apache.log import ApacheLog
from conformance.apache.marks import needs_apache
from conformance.apache.produced import Produced, produced
from conformance.apache.records import JavaBatch, java_reads
from conformance.apache.samples import NOW_MS
from moldau.broker.fast.shortcuts import PRODUCE
from moldau.errors import ErrorCode
from moldau.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from moldau.replication.partition import PartitionState
from unit.broker.ways import Way
from unit.broker.world import SettableClock, Setting, World, broker_world

pytestmark = needs_apache("kafka-3.9")

LEADER_EPOCH = 3
# Which transactions are open is the coordinator's to know, and there is none in Apache's log.
SETTINGS = {"transaction.partition.verification.enable": "false"}
CASES = {case.name: case for case in produced()}

# Apache takes these in, or answers another code; why we do not follow.
DIFFERENT = {
    **dict.fromkeys(
        ("none: offset delta 1 first", "none: gaps", "none: equal offsets"),
        (ErrorCode.INVALID_RECORD, "its log would give records other offsets than the answer"),
    ),
    **dict.fromkeys(
        ("lz4: record length one more", "lz4: record length one less"),
        (ErrorCode.INVALID_RECORD, "it skips over keys and values, so consumers would stumble"),
    ),
    "lz4: record length negative": (ErrorCode.INVALID_RECORD, "likewise"),
    "gzip: trailing bytes": (ErrorCode.INVALID_RECORD, "they would be stored and never be read"),
}


WAYS = pytest.mark.parametrize("way", [Way.HANDLER, Way.FAST])


@WAYS
@pytest.mark.parametrize("name", CASES)
def test_our_answer_is_apaches(oracle: JavaProgram, tmp_path: Path, name: str, way: Way) -> None:
    case = CASES[name]
    their_code, theirs = apache_answer(oracle, case, tmp_path / "topic-0")
    our_code, ours = asyncio.run(our_answer(case, way))
    if name in DIFFERENT:
        expected, _ = DIFFERENT[name]
        assert our_code == expected != their_code
    elif their_code == ErrorCode.UNKNOWN_SERVER_ERROR:
        # An exception that Apache did not foresee: a refusal, whose code says nothing.
        assert our_code not in (ErrorCode.NONE, ErrorCode.UNKNOWN_SERVER_ERROR)
    else:
        assert our_code == their_code
        assert facts(oracle, ours) == facts(oracle, theirs)


@WAYS
@pytest.mark.parametrize("name", ["none batch", "none batch, log-append time", "idempotent"])
def test_what_need_not_be_rebuilt_is_stored_byte_for_byte(
    oracle: JavaProgram, tmp_path: Path, name: str, way: Way
) -> None:
    _, theirs = apache_answer(oracle, CASES[name], tmp_path / "topic-0")
    assert asyncio.run(our_answer(CASES[name], way)) == (ErrorCode.NONE, theirs)


@pytest.mark.parametrize("name", ["none batch", "idempotent", "lz4 batch, version 7"])
async def test_plain_batches_come_by_the_fast_path(name: str) -> None:
    async with leading_world(CASES[name], Way.FAST) as world:
        await send(CASES[name], world)
        assert world.fast_paths.answered[PRODUCE] == 1


def apache_answer(oracle: JavaProgram, case: Produced, directory: Path) -> tuple[ErrorCode, bytes]:
    """The code, and the bytes that Apache appends to its log."""
    log = ApacheLog(oracle, directory, case.config, NOW_MS)
    log.open()
    answer = log.produce(case.data, leader_epoch=LEADER_EPOCH, version=case.version)
    log.close()
    return answer.code, answer.stored


async def our_answer(case: Produced, way: Way) -> tuple[ErrorCode, bytes]:
    """The code, and the bytes that we append to our log."""
    async with leading_world(case, way) as world:
        code = await send(case, world)
        stored = world.partition("t").log.read(0, max_bytes=2**26).range
        return code, b"" if stored is None else stored.read()


async def send(case: Produced, world: World) -> ErrorCode:
    """Produce to topic `t`."""
    data = PartitionProduceData(index=0, records=bytearray(case.data))
    topic = TopicProduceData(name="t", partition_data=[data])
    request = ProduceRequest(acks=1, timeout_ms=0, topic_data=[topic])
    response = await world.ask(request, case.version)
    return ErrorCode(response.responses[0].partition_responses[0].error_code)


@asynccontextmanager
async def leading_world(case: Produced, way: Way) -> AsyncIterator[World]:
    """A broker that leads a topic with the settings of a case."""
    async with broker_world(SETTINGS, Setting(clock=SettableClock(NOW_MS)), way) as world:
        await world.create_topic("t", overrides=case.config)
        state = PartitionState(1, 0, LEADER_EPOCH, (0,), 0, (0,))
        world.partition("t").lead(state, now_ms=NOW_MS)
        yield world


def facts(oracle: JavaProgram, stored: bytes) -> list[JavaBatch]:
    """What is stored, but for sizes, since each implementation compresses in its way."""
    return [dataclasses.replace(batch, size=0) for batch in java_reads(oracle, stored)]
