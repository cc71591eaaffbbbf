"""Options have the names and the meaning that Spark's own Kafka source gives them."""

import pytest

from moldau.model import TopicPartition
from moldau.spark.offsets import COMMITTED, EARLIEST, LATEST
from moldau.spark.options import COLUMNS, Bound, SourceOptions, TopicSelection

NEEDED = {"kafka.bootstrap.servers": "localhost:9092", "subscribe": "a"}


def read(*, is_stream: bool = False, **options: str) -> SourceOptions:
    return SourceOptions.read({**NEEDED, **options}, is_stream=is_stream)


def test_names_are_compared_without_regard_to_case() -> None:
    found = read(FAILONDATALOSS="false", minpartitions="4", MaxOffsetsPerTrigger="9")
    assert not found.fails_on_data_loss
    assert (found.partitions_min, found.offsets_per_trigger_max) == (4, 9)


def test_a_batch_reads_everything_and_a_stream_what_is_new() -> None:
    assert (read().starting, read().ending) == (Bound(EARLIEST), Bound(LATEST))
    assert read(is_stream=True).starting == Bound(LATEST)


def test_bounds_are_offsets_or_times() -> None:
    name = TopicPartition("a", 1)
    assert read(startingOffsets="latest").starting == Bound(LATEST)
    assert read(startingOffsets='{"a":{"1":5}}').starting.offsets == ((name, 5),)
    assert read(startingOffsetsByTimestamp='{"a":{"1":5}}').starting.timestamps == ((name, 5),)
    assert read(endingTimestamp="77").ending.timestamp == 77


def test_a_time_to_begin_at_must_have_come_unless_it_is_said() -> None:
    assert read(startingTimestamp="77").starting.is_strict
    assert read(startingOffsetsByTimestamp='{"a":{"1":5}}').starting.is_strict
    assert not read(
        startingTimestamp="77", startingOffsetsByTimestampStrategy="latest"
    ).starting.is_strict
    assert not read(endingTimestamp="77").ending.is_strict


@pytest.mark.parametrize(
    ("text", "delay_ms"), [("15m", 900_000), ("90 s", 90_000), ("250ms", 250), ("1h", 3_600_000)]
)
def test_batches_may_be_held_back_for_some_time(text: str, delay_ms: int) -> None:
    found = read(minOffsetsPerTrigger="100", maxTriggerDelay=text)
    assert (found.offsets_per_trigger_min, found.trigger_delay_max_ms) == (100, delay_ms)
    assert read().trigger_delay_max_ms == 900_000


def test_a_group_may_be_told_how_far_the_query_is() -> None:
    assert (read().group, read(commitGroup="jobs").group) == (None, "jobs")


def test_a_query_may_begin_where_a_group_is() -> None:
    found = read(startingOffsets="committed", commitGroup="jobs")
    assert found.starting == Bound(COMMITTED)
    with pytest.raises(ValueError, match="committed needs commitGroup"):
        read(startingOffsets="committed")
    with pytest.raises(ValueError, match="endingOffsets cannot be committed"):
        read(endingOffsets="committed", commitGroup="jobs")


def test_partitions_are_chosen_in_one_way() -> None:
    assert read(subscribe="a, b").topics == TopicSelection(names=("a", "b"))
    alone = {"kafka.bootstrap.servers": "x:1"}
    found = SourceOptions.read(alone | {"assign": '{"b":[1],"a":[0]}'}, is_stream=False)
    assert found.topics.partitions == (TopicPartition("a", 0), TopicPartition("b", 1))
    found = SourceOptions.read(alone | {"subscribePattern": "a.*"}, is_stream=False)
    assert found.topics.pattern == "a.*"


def test_columns_are_chosen_and_headers_asked_for() -> None:
    assert read().columns == COLUMNS[:-1]
    assert read(includeHeaders="true").columns == COLUMNS
    assert read(columns="value,offset").columns == ("value", "offset")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"subscribe": " , "}, "names no topic"),
        ({"assign": "{}"}, "exactly one"),
        ({"minPartitions": "0"}, "not above 0"),
        ({"minPartitions": "many"}, "not a whole number"),
        ({"failOnDataLoss": "perhaps"}, "neither true nor false"),
        ({"endingOffsets": "earliest"}, "cannot be earliest"),
        ({"minOffsetsPerTrigger": "5", "maxOffsetsPerTrigger": "4"}, "5 is above max"),
        ({"maxTriggerDelay": "soon"}, "no duration like 15m"),
        ({"columns": "value,colour"}, "'colour' is none of key"),
        ({"kafka.auto.offset.reset": "earliest"}, "set startingOffsets"),
        ({"kafka.key.deserializer": "x"}, "keys are bytes"),
        ({"kafka.value.deserializer": "x"}, "values are bytes"),
        ({"kafka.enable.auto.commit": "true"}, "Spark keeps the offsets"),
        ({"kafka.interceptor.classes": "x"}, "could change what is read"),
        ({"startingTimestamp": "-1"}, "before 1970"),
        ({"endingOffsetsByTimestamp": '{"a":{"0":-2}}'}, "before 1970"),
        ({"startingOffsetsByTimestampStrategy": "first"}, "neither error nor latest"),
    ],
)
def test_what_cannot_be_meant_is_refused(options: dict[str, str], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        SourceOptions.read({**NEEDED, **options}, is_stream=False)


def test_without_brokers_or_topics_there_is_nothing_to_read() -> None:
    with pytest.raises(ValueError, match=r"kafka\.bootstrap\.servers is missing"):
        SourceOptions.read({"subscribe": "a"}, is_stream=False)
    with pytest.raises(ValueError, match="exactly one of subscribe"):
        SourceOptions.read({"kafka.bootstrap.servers": "x:1"}, is_stream=False)
    with pytest.raises(ValueError, match="subscribePattern"):
        SourceOptions.read(
            {"kafka.bootstrap.servers": "x:1", "subscribePattern": "("}, is_stream=False
        )
    with pytest.raises(ValueError, match="assign"):
        SourceOptions.read({"kafka.bootstrap.servers": "x:1", "assign": "x"}, is_stream=False)
