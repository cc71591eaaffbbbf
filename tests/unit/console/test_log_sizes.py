"""Bytes per second are what logs grow by."""

from moldau.client.admin.log_dirs import LogDir, StoredReplica
from moldau.console.log_sizes import LogSizes
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def directory(
    sizes: dict[TopicPartition, int], error: KafkaError | None = None
) -> dict[str, LogDir]:
    replicas = {each: StoredReplica(size, 0, False) for each, size in sizes.items()}
    return {"/data": LogDir("/data", error, replicas, -1, -1)}


def test_a_partition_counts_once_and_a_topic_on_all_brokers() -> None:
    sizes = LogSizes()
    sizes.add({1: directory({T0: 100, T1: 50}), 2: directory({T0: 80})}, 1_000)
    assert sizes.topics == {"t": 230}
    assert not sizes.history, "nothing to compare with"
    sizes.add({1: directory({T0: 300, T1: 50}), 2: directory({T0: 300})}, 3_000)
    assert list(sizes.history) == [(3_000, 100.0)]


def test_what_was_removed_hides_no_growth_of_other_partitions() -> None:
    sizes = LogSizes()
    sizes.add({1: directory({T0: 1_000_000, T1: 50})}, 1_000)
    sizes.add({1: directory({T0: 10, T1: 70})}, 2_000)
    assert list(sizes.history) == [(2_000, 20.0)]


def test_a_partition_that_is_new_has_grown_from_nothing() -> None:
    sizes = LogSizes()
    sizes.add({1: directory({})}, 1_000)
    sizes.add({1: directory({T0: 30})}, 2_000)
    assert list(sizes.history) == [(2_000, 30.0)]


def test_a_broker_that_was_silent_for_a_while_is_no_burst() -> None:
    sizes = LogSizes()
    both = {1: directory({T0: 10}), 2: directory({T1: 1_000})}
    offline = directory({}, KafkaError(ErrorCode.KAFKA_STORAGE_ERROR))
    for at, brokers in enumerate(
        (both, {1: both[1]}, both, {1: both[1], 2: offline}, both, {}, {})
    ):
        sizes.add(brokers, at * 1_000)
    assert not sizes.history
    sizes.add(both, 8_000)
    sizes.add(both, 9_000)
    assert list(sizes.history) == [(9_000, 0.0)]


def test_a_copy_into_another_directory_is_not_there_yet() -> None:
    sizes = LogSizes()
    sizes.add({1: {"/data": LogDir("/data", None, {T0: StoredReplica(5, 0, True)}, -1, -1)}}, 1_000)
    assert sizes.topics == {}
