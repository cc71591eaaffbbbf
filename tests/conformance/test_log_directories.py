"""Log directories that change hands between an Apache broker and us."""

import random
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.apache.broker import ApacheBroker, apache_broker
from conformance.apache.dump import dump
from conformance.apache.lines import JavaProgram
from conformance.apache.log import ApacheLog
from conformance.apache.marks import needs_apache
from conformance.apache.records import java_reads, record_of
from conformance.apache.workload import TOPICS, write_directories
from conformance.log_twins import CONFIG, START_MS, LogTwins, in_order
from conformance.our_log import batches_of, claim_directory, state_of, visible_records
from moldau.config.topic import TopicConfig
from moldau.log.log import Log
from moldau.model import TopicPartition
from moldau.records.record import Record

pytestmark = needs_apache("kafka-3.9")

NOW_MS = int(time.time() * 1000)
EVERYTHING = 2**30


def test_we_find_in_apaches_directories_what_apache_finds(
    oracle: JavaProgram, tmp_path: Path
) -> None:
    written = write_directories(tmp_path)
    assert_equal_finds(oracle, written.clean, is_clean=True)
    assert_equal_finds(oracle, written.killed, is_clean=False)


def assert_equal_finds(oracle: JavaProgram, path: Path, *, is_clean: bool) -> None:
    """Open every log of the directory, and a copy of it with Apache's code."""
    theirs = path.with_name(f"{path.name}-for-apache")
    shutil.copytree(path, theirs)
    directory = claim_directory(path)
    logs = {log.partition.topic: log for log in directory.load(topic_config, now_ms=NOW_MS)}
    assert set(logs) == {*TOPICS, "__transaction_state"}
    for topic, log in logs.items():
        apache = ApacheLog(oracle, theirs / str(log.partition), topic_overrides(topic), NOW_MS)
        apache.open(is_clean=is_clean)
        assert in_order(state_of(log)) == in_order(apache.state()), topic
        records = every_record(log)
        assert records == every_record_of_apache(oracle, apache), topic
        for timestamp in timestamps(records):
            found = first_since(timestamp, records)
            assert log.offset_for_timestamp(timestamp) == found, (topic, timestamp)
            if topic != "compacted":
                # There, Apache gives up at an empty batch that has the largest timestamp.
                assert apache.offset_for_timestamp(timestamp) == found, (topic, timestamp)
        assert log.topic_id is not None
        apache.close()
    assert_traffic_was_worth_it(logs)
    directory.close(now_ms=NOW_MS)


def assert_traffic_was_worth_it(logs: dict[str, Log]) -> None:
    """There were aborted transactions, an open one, and compaction."""
    transactions = logs["transactions"]
    assert len(state_of(transactions)["aborted"]) >= 4
    assert transactions.last_stable_offset < transactions.log_end_offset
    offsets = [record.offset for record in every_record(logs["compacted"])]
    assert offsets != list(range(offsets[0], offsets[0] + len(offsets)))


@pytest.fixture(scope="module")
def handed_over(
    oracle: JavaProgram, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ApacheBroker]:
    """A broker with the topic `ours`, which we have filled while the broker was stopped."""
    root = tmp_path_factory.mktemp("handed-over")
    with apache_broker(root) as broker:
        broker.start()
        with JavaProgram("traffic", "kafka-3.9") as clients:
            clients.call(
                "create_topic",
                bootstrap=broker.bootstrap,
                topic="ours",
                partition_count=1,
                config=topic_overrides("ours"),
            )
        broker.stop()
        (root / "apache").mkdir()
        directory = claim_directory(broker.log_directory)
        (log,) = directory.load(topic_config, now_ms=START_MS)
        apache = ApacheLog(oracle, root / "apache/ours-0", CONFIG, START_MS)
        apache.open()
        LogTwins(apache, log, random.Random(12), leader_epoch_max=0).run(300)
        apache.close()
        directory.close(now_ms=START_MS)
        yield broker


def test_apache_serves_the_directory_that_we_have_written(handed_over: ApacheBroker) -> None:
    broker = handed_over
    expected = {
        is_committed: visible_records(our_log(broker.log_directory), committed_only=is_committed)
        for is_committed in (False, True)
    }
    result = dump(broker.log_directory / "ours-0", "--deep-iteration")
    assert (result.exit_code, result.complaints) == (0, "")
    size = len(broker.server_log)
    broker.start()
    with JavaProgram("traffic", "kafka-3.9") as clients:
        assert consume(clients, broker, "read_uncommitted") == expected[False]
        assert consume(clients, broker, "read_committed") == expected[True]
        produced_at = clients.call(
            "produce",
            bootstrap=broker.bootstrap,
            topic="ours",
            partition=0,
            producer="java",
            settings={},
            records=[[START_MS, b"key", b"written by Java", []]],
        )
        after = consume(clients, broker, "read_uncommitted")
    broker.stop()
    assert len(expected[True]) < len(expected[False]) < len(after)
    assert broker.complaints() == []
    assert "Recovering unflushed segment" not in broker.server_log[size:]
    assert "Rebuilding" not in broker.server_log[size:]
    log = our_log(broker.log_directory)
    assert log.log_end_offset == produced_at + 1
    assert visible_records(log, committed_only=False) == after


def our_log(path: Path) -> Log:
    """Our view on a copy of the directory, so that opening does not change it."""
    copy = path.with_name(f"{path.name}-copy")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(path, copy)
    logs = claim_directory(copy).load(topic_config, now_ms=START_MS)
    (log,) = (log for log in logs if log.partition.topic == "ours")
    log.raise_high_watermark(log.log_end_offset)
    return log


def consume(clients: JavaProgram, broker: ApacheBroker, isolation: str) -> list[Record]:
    rows = clients.call(
        "consume",
        bootstrap=broker.bootstrap,
        topic="ours",
        partition=0,
        settings={"isolation.level": isolation},
    )
    return [record_of(row) for row in rows]


def topic_overrides(topic: str) -> dict[str, str]:
    if topic == "ours":
        return {**CONFIG, "retention.ms": "-1"}
    return TOPICS.get(topic, {})


def topic_config(partition: TopicPartition) -> TopicConfig:
    return TopicConfig().with_overrides(topic_overrides(partition.topic))


def every_record(log: Log) -> list[Record]:
    return [record for _, records in batches_of(log) for record in records]


def every_record_of_apache(oracle: JavaProgram, log: ApacheLog) -> list[Record]:
    state = log.state()
    offset = state["log_start_offset"]
    records: list[Record] = []
    while offset < state["log_end_offset"]:
        batches = java_reads(oracle, log.read(offset, max_bytes=EVERYTHING))
        records += [record for batch in batches for record in batch.records]
        offset = batches[-1].last_offset + 1
    return records


def first_since(timestamp: int, records: list[Record]) -> tuple[int, int] | None:
    """Timestamp and offset of the first record that is not older."""
    found = (record for record in records if record.timestamp >= timestamp)
    return next(((record.timestamp, record.offset) for record in found), None)


def timestamps(records: list[Record]) -> list[int]:
    """Some that records have, and some between."""
    found = sorted({record.timestamp for record in records})[::20]
    return [0, *found, *(timestamp + 1 for timestamp in found)]
