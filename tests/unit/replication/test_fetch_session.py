"""A follower's fetch session: what is said, what is not said again, what is taken back."""

import pytest

from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from moldau.protocol.messages.fetch import FetchTopic, ForgottenTopic
from moldau.replication.fetch_session import FetchPosition, Key, ReplicaFetchSession, Said

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)
ID = b"i" * 16


def want(offset: int) -> FetchPosition:
    return FetchPosition(
        leader_epoch=3, offset=offset, last_epoch=2, log_start_offset=1, max_bytes=100
    )


def said(name: TopicPartition, offset: int) -> Said:
    return Said(Key(*name), want(offset))


def offsets(topics: list[FetchTopic]) -> dict[TopicPartition, int]:
    return {
        TopicPartition(topic.topic, partition.partition): partition.fetch_offset
        for topic in topics
        for partition in topic.partitions
    }


def names(topics: list[ForgottenTopic]) -> list[TopicPartition]:
    return [TopicPartition(topic.topic, one) for topic in topics for one in topic.partitions]


@pytest.fixture
def session() -> ReplicaFetchSession:
    """A session with three partitions."""
    made = ReplicaFetchSession()
    everything = {A0: said(A0, 5), A1: said(A1, 6), B0: said(B0, 7)}
    topics, forgotten = made.next(everything, uses_ids=False)
    assert offsets(topics) == {A0: 5, A1: 6, B0: 7}
    assert forgotten == []
    partition = topics[0].partitions[0]
    assert (partition.current_leader_epoch, partition.last_fetched_epoch) == (3, 2)
    assert (partition.log_start_offset, partition.partition_max_bytes) == (1, 100)
    made.answered(77)
    return made


def test_a_session_is_fresh_until_the_leader_has_opened_it(session: ReplicaFetchSession) -> None:
    assert ReplicaFetchSession().is_fresh
    assert not session.is_fresh
    assert (session.session_id, session.epoch, len(session)) == (77, 1, 3)


def test_only_changes_are_said_again(session: ReplicaFetchSession) -> None:
    topics, forgotten = session.next({A0: said(A0, 9), A1: said(A1, 6)}, uses_ids=False)
    assert offsets(topics) == {A0: 9}
    assert forgotten == []
    assert session.asked(Key("a", 0)) == (A0, want(9))
    assert session.asked(Key("b", 0)) == (B0, want(7))


def test_partitions_that_are_wanted_no_more_are_taken_back(session: ReplicaFetchSession) -> None:
    unknown = TopicPartition("never", 0)
    topics, forgotten = session.next({A0: None, B0: None, unknown: None}, uses_ids=False)
    assert topics == []
    assert names(forgotten) == [A0, B0]
    assert session.asked(Key("a", 0)) is None
    assert len(session) == 1


def test_a_topic_of_the_same_name_with_another_id_is_another_one() -> None:
    session = ReplicaFetchSession()
    session.next({A0: Said(Key(ID, 0), want(5))}, uses_ids=True)
    session.answered(77)
    other = Key(b"j" * 16, 0)
    topics, forgotten = session.next({A0: Said(other, want(0))}, uses_ids=True)
    assert [topic.topic_id for topic in topics] == [other.topic]
    assert [topic.topic_id for topic in forgotten] == [ID]
    assert session.asked(other) == (A0, want(0))
    assert session.asked(Key(ID, 0)) is None


def test_without_a_session_everything_is_said_each_time(session: ReplicaFetchSession) -> None:
    session.answered(0)
    assert session.is_fresh
    assert offsets(session.next({A0: said(A0, 5)}, uses_ids=False)[0]) == {A0: 5}


def test_after_a_restart_names_may_become_ids(session: ReplicaFetchSession) -> None:
    session.restart()
    assert session.is_fresh
    assert len(session) == 0
    session.next({A0: Said(Key(ID, 0), want(5))}, uses_ids=True)
    assert session.uses_ids


def test_the_epoch_starts_over_at_one(session: ReplicaFetchSession) -> None:
    session.epoch = 2**31 - 1
    session.answered(77)
    assert session.epoch == 1


def test_errors_of_sessions_are_told_from_others() -> None:
    for code in (
        ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
        ErrorCode.INVALID_FETCH_SESSION_EPOCH,
        ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
    ):
        assert ReplicaFetchSession.is_over(code)
    assert not ReplicaFetchSession.is_over(ErrorCode.UNKNOWN_SERVER_ERROR)
