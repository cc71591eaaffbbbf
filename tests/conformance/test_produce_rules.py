"""Produced records, right and wrong: our answer and what we store, against Apache's own log."""

import dataclasses
from pathlib import Path

import pytest

from conformance.apache.lines import JavaProgram
from conformance.apache.log import ApacheLog
from conformance.apache.marks import needs_apache
from conformance.apache.produced import Produced, produced
from conformance.apache.records import JavaBatch, java_reads
from conformance.apache.samples import NOW_MS
from moldau.config.topic import TopicConfig
from moldau.errors import ErrorCode, KafkaError
from moldau.records.batch import stamp
from moldau.records.rules import ProduceRules
from moldau.records.validate import validate_produce

pytestmark = needs_apache("kafka-3.9")

LEADER_EPOCH = 3
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


@pytest.mark.parametrize("name", CASES)
def test_our_answer_is_apaches(oracle: JavaProgram, tmp_path: Path, name: str) -> None:
    case = CASES[name]
    their_code, theirs = apache_answer(oracle, case, tmp_path / "topic-0")
    our_code, ours = our_answer(case)
    if name in DIFFERENT:
        expected, _ = DIFFERENT[name]
        assert our_code == expected != their_code
    elif their_code == ErrorCode.UNKNOWN_SERVER_ERROR:
        # An exception that Apache did not foresee: a refusal, whose code says nothing.
        assert our_code not in (ErrorCode.NONE, ErrorCode.UNKNOWN_SERVER_ERROR)
    else:
        assert our_code == their_code
        assert facts(oracle, ours) == facts(oracle, theirs)


@pytest.mark.parametrize("name", ["none batch", "none batch, log-append time", "idempotent"])
def test_what_need_not_be_rebuilt_is_stored_byte_for_byte(
    oracle: JavaProgram, tmp_path: Path, name: str
) -> None:
    _, theirs = apache_answer(oracle, CASES[name], tmp_path / "topic-0")
    assert our_answer(CASES[name]) == (ErrorCode.NONE, theirs)


def apache_answer(oracle: JavaProgram, case: Produced, directory: Path) -> tuple[ErrorCode, bytes]:
    """The code, and the bytes that Apache appends to its log."""
    log = ApacheLog(oracle, directory, case.config, NOW_MS)
    log.open()
    answer = log.produce(case.data, leader_epoch=LEADER_EPOCH, version=case.version)
    log.close()
    return answer.code, answer.stored


def our_answer(case: Produced) -> tuple[ErrorCode, bytes]:
    """The code, and the bytes that we would append."""
    rules = ProduceRules.for_topic(TopicConfig().with_overrides(case.config))
    try:
        valid = validate_produce(
            bytearray(case.data), rules, request_version=case.version, now_ms=NOW_MS
        )
    except KafkaError as error:
        return error.code, b""
    if valid is None:
        return ErrorCode.NONE, b""
    stamp(valid.data, 0, base_offset=0, leader_epoch=LEADER_EPOCH)
    return ErrorCode.NONE, bytes(valid.data)


def facts(oracle: JavaProgram, stored: bytes) -> list[JavaBatch]:
    """What is stored, but for sizes, since each implementation compresses in its way."""
    return [dataclasses.replace(batch, size=0) for batch in java_reads(oracle, stored)]
