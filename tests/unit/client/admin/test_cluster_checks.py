"""Versions, disks and groups of a cluster are judged."""

from moldau.client.admin.cluster_checks import GroupProgress, lag, storage, versions
from moldau.client.admin.group_offsets import CommittedOffset
from moldau.client.admin.groups import GroupDescription, MemberDescription
from moldau.client.admin.log_dirs import LogDir
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition

PLACE = TopicPartition("orders", 0)


def directory(total: int, usable: int, error: KafkaError | None = None) -> LogDir:
    return LogDir("/data", error, {}, total, usable)


def progress(committed: int, *, first: int = 0, end: int = 10, members: int = 1) -> GroupProgress:
    member = MemberDescription("m", None, "c", "h", [PLACE])
    group = GroupDescription(
        "billing", "classic", "consumer", "Stable", "range", 0, [member] * members, None
    )
    return GroupProgress(group, {PLACE: CommittedOffset(committed)}, {PLACE: first}, {PLACE: end})


def test_brokers_that_speak_the_same_are_well() -> None:
    (found,) = versions({1: {0: range(12)}, 2: {0: range(12)}})
    assert found.is_well
    assert found.text == "all 2 brokers speak the same versions of the protocol"
    assert list(versions({})) == []


def test_brokers_of_different_versions_are_found() -> None:
    (found,) = versions({1: {0: range(12)}, 2: {0: range(12)}, 3: {0: range(10)}})
    assert not found.is_well
    assert found.text == "brokers 1, 2 and 3 speak different versions of the protocol"


def test_a_broker_that_this_client_cannot_talk_to_is_found() -> None:
    found = next(versions({1: {0: range(90, 95)}}))
    assert found.text == "broker 1 and this client have no version in common of Produce"
    assert "pip install --upgrade moldau" in found.advice


def test_a_disk_that_fills_up_is_found() -> None:
    (well,) = storage(1, {"/data": directory(100 << 30, 5 << 30)})
    assert (well.is_well, well.text) == (True, "/data of broker 1: 5.0 GiB free, 5%")
    (full,) = storage(1, {"/data": directory(100 << 30, 4 << 30)})
    assert not full.is_well
    assert "retention.bytes" in full.advice
    assert list(storage(1, {"/data": directory(-1, -1)})) == [], "old brokers do not say"


def test_a_directory_that_is_offline_is_found() -> None:
    error = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "it failed")
    (found,) = storage(1, {"/data": directory(1, 1, error)})
    assert (found.is_well, found.text) == (False, "/data of broker 1 is offline: it failed")


def test_how_far_a_group_is_behind_is_said() -> None:
    assert lag(progress(10)).text == "group billing: 1 members, 0 records behind"
    assert lag(progress(10)).advice == ""
    behind = lag(progress(4))
    assert (behind.is_well, behind.text) == (True, "group billing: 1 members, 6 records behind")
    assert "kafka-consumer-groups.sh --describe --group billing" in behind.advice
    assert lag(progress(4, members=0)).advice.startswith("It has no members now.")


def test_a_group_whose_records_were_deleted_is_found() -> None:
    found = lag(progress(4, first=5))
    assert not found.is_well
    assert found.text == "group billing: records that it has not read were deleted in orders-0"
    assert lag(progress(5, first=5)).is_well
