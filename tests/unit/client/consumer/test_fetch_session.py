"""What is said again in a fetch session, and what is not."""

import pytest

from moldau.client.consumer.fetch_session import FetchSession, ReadPosition
from moldau.model import TopicPartition

T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)


def said(session: FetchSession, wanted: dict[TopicPartition, int]) -> dict[TopicPartition, int]:
    return {
        TopicPartition(topic.topic, each.partition): each.fetch_offset
        for topic in session.topics(
            {key: ReadPosition(offset) for key, offset in wanted.items()}, 1000
        )
        for each in topic.partitions
    }


@pytest.fixture
def session() -> FetchSession:
    """A session in which the broker knows two partitions."""
    opened = FetchSession()
    assert said(opened, {T0: 5, T1: 6}) == {T0: 5, T1: 6}
    opened.answered(77)
    return opened


def test_a_session_begins_with_everything(session: FetchSession) -> None:
    assert (session.session_id, session.epoch) == (77, 1)


def test_only_what_changed_is_said_again(session: FetchSession) -> None:
    assert said(session, {T0: 5, T1: 9, U0: 0}) == {T1: 9, U0: 0}
    assert session.forgotten() == []
    session.answered(77)
    assert session.epoch == 2


def test_what_is_not_wanted_any_more_is_taken_back(session: FetchSession) -> None:
    assert said(session, {T0: 5}) == {}
    (forgotten,) = session.forgotten()
    assert (forgotten.topic, forgotten.partitions) == ("t", [1])


def test_after_an_error_everything_is_said_in_a_new_session(session: FetchSession) -> None:
    session.restart()
    assert said(session, {T0: 5}) == {T0: 5}
    assert session.forgotten() == []
    assert (session.session_id, session.epoch) == (77, 0)


def test_a_broker_without_room_for_a_session_is_told_everything_each_time(
    session: FetchSession,
) -> None:
    session.answered(0)
    assert session.epoch == 0
    assert said(session, {T0: 5}) == {T0: 5}


def test_epochs_begin_again_with_one(session: FetchSession) -> None:
    session.epoch = 2**31 - 1
    session.answered(77)
    assert session.epoch == 1


def test_a_new_epoch_of_the_leader_is_said(session: FetchSession) -> None:
    (topic,) = session.topics({T0: ReadPosition(5, 3), T1: ReadPosition(6)}, 1000)
    (partition,) = topic.partitions
    assert (partition.partition, partition.current_leader_epoch) == (0, 3)
