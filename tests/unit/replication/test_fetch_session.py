"""A follower's fetch session: what is said, what is not said again, what is taken back."""

from moldau.errors import ErrorCode
from moldau.protocol.messages.fetch import FetchTopic
from moldau.replication.fetch_session import FollowerSession, Key, Wanted

A0, A1, B0 = Key("a", 0), Key("a", 1), Key("b", 0)


def want(offset: int) -> Wanted:
    return Wanted(leader_epoch=3, offset=offset, last_epoch=2, log_start_offset=1, max_bytes=100)


def said(topics: list[FetchTopic]) -> dict[Key, int]:
    return {
        Key(topic.topic or topic.topic_id, partition.partition): partition.fetch_offset
        for topic in topics
        for partition in topic.partitions
    }


def test_the_first_request_says_everything() -> None:
    session = FollowerSession()
    topics, forgotten = session.next({A0: want(5), A1: want(6), B0: want(7)}, uses_ids=False)
    assert said(topics) == {A0: 5, A1: 6, B0: 7}
    assert forgotten == []
    partition = topics[0].partitions[0]
    assert (partition.current_leader_epoch, partition.last_fetched_epoch) == (3, 2)
    assert (partition.log_start_offset, partition.partition_max_bytes) == (1, 100)


def test_only_changes_are_said_again() -> None:
    session = FollowerSession()
    session.next({A0: want(5), A1: want(6)}, uses_ids=False)
    session.answered(77)
    assert (session.session_id, session.epoch) == (77, 1)
    topics, forgotten = session.next({A0: want(9), A1: want(6), B0: want(0)}, uses_ids=False)
    assert said(topics) == {A0: 9, B0: 0}
    assert forgotten == []


def test_partitions_that_are_wanted_no_more_are_taken_back() -> None:
    session = FollowerSession()
    session.next({A0: want(5), A1: want(6), B0: want(0)}, uses_ids=False)
    session.answered(77)
    topics, forgotten = session.next({A1: want(6)}, uses_ids=False)
    assert topics == []
    assert [(topic.topic, topic.partitions) for topic in forgotten] == [("a", [0]), ("b", [0])]


def test_without_a_session_everything_is_said_each_time() -> None:
    session = FollowerSession()
    session.next({A0: want(5)}, uses_ids=False)
    session.answered(0)
    assert session.epoch == 0
    assert said(session.next({A0: want(5)}, uses_ids=False)[0]) == {A0: 5}


def test_the_epoch_starts_over_at_one() -> None:
    session = FollowerSession()
    session.epoch = 2**31 - 1
    session.answered(77)
    assert session.epoch == 1


def test_ids_instead_of_names_need_a_new_session() -> None:
    session = FollowerSession()
    session.next({A0: want(5)}, uses_ids=False)
    session.answered(77)
    by_id = Key(b"i" * 16, 0)
    topics, forgotten = session.next({by_id: want(5)}, uses_ids=True)
    assert said(topics) == {by_id: 5}
    assert (session.epoch, forgotten) == (0, [])
    session.answered(78)
    assert [one.topic_id for one in session.next({}, uses_ids=True)[1]] == [b"i" * 16]


def test_errors_of_sessions_are_told_from_others() -> None:
    assert FollowerSession.is_over(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
    assert not FollowerSession.is_over(ErrorCode.UNKNOWN_SERVER_ERROR)
