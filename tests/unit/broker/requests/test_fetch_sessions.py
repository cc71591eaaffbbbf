"""Fetch sessions: full and incremental requests, refusals, eviction."""

from itertools import count
from typing import NamedTuple

import pytest

from moldau.broker.requests.fetch_request import (
    CONSUMER,
    FINAL_EPOCH,
    INITIAL_EPOCH,
    ParsedFetch,
    PartitionKey,
    Wanted,
)
from moldau.broker.requests.fetch_sessions import (
    EVICTION_MS,
    REMEMBERED_MAX,
    STRANGE_PARTITIONS_MAX,
    Fetch,
    FetchSessions,
)
from moldau.errors import ErrorCode, KafkaError
from unit.broker.world import CLIENT


class Answer(NamedTuple):
    """What a session compares."""

    error_code: int
    high_watermark: int
    log_start_offset: int
    has_records: bool
    has_hint: bool


A, B, C = PartitionKey("t", 0), PartitionKey("t", 1), PartitionKey("u", 0)
NOTHING_NEW = Answer(0, high_watermark=5, log_start_offset=0, has_records=False, has_hint=False)
RECORDS = NOTHING_NEW._replace(has_records=True)


def wanted(offset: int = 0) -> Wanted:
    return Wanted(-1, offset, -1, -1, 1_000)


def request(
    session_id: int = 0,
    epoch: int = INITIAL_EPOCH,
    *keys: PartitionKey,
    forgotten: tuple[PartitionKey, ...] = (),
    offset: int = 0,
    is_follower: bool = False,
    uses_topic_ids: bool = False,
) -> ParsedFetch:
    return ParsedFetch(
        client=CLIENT,
        client_id="test",
        version=13 if uses_topic_ids else 12,
        replica_id=1 if is_follower else CONSUMER,
        max_wait_ms=0,
        min_bytes=1,
        max_bytes=1_000,
        isolation_level=0,
        session_id=session_id,
        session_epoch=epoch,
        wanted={key: wanted(offset) for key in keys},
        forgotten=forgotten,
    )


def sessions(slots: int = 10, hosted: int = 0) -> FetchSessions:
    ids = count(1)
    return FetchSessions(slots, lambda: next(ids), hosted=lambda: hosted)


def many(size: int) -> list[PartitionKey]:
    return [PartitionKey("t", number) for number in range(size)]


def opened(cache: FetchSessions, *keys: PartitionKey) -> Fetch:
    fetch = cache.begin(request(0, INITIAL_EPOCH, *keys), now_ms=0)
    assert fetch.select(dict.fromkeys(keys, NOTHING_NEW)) == list(keys)
    return fetch


def test_a_client_that_wants_no_session_is_told_everything() -> None:
    cache = sessions()
    fetch = cache.begin(request(0, FINAL_EPOCH, A, B), now_ms=0)
    assert fetch.session_id == 0
    assert list(fetch.wanted) == [A, B]
    assert fetch.select({A: NOTHING_NEW, B: RECORDS}) == [A, B]
    assert len(cache) == 0


def test_an_incremental_answer_tells_only_what_changed() -> None:
    cache = sessions()
    session_id = opened(cache, A, B).session_id
    fetch = cache.begin(request(session_id, 1), now_ms=1)
    assert list(fetch.wanted) == [A, B]
    moved = NOTHING_NEW._replace(high_watermark=9)
    assert fetch.select({A: NOTHING_NEW, B: moved}) == [B]
    fetch = cache.begin(request(session_id, 2), now_ms=2)
    assert fetch.select({A: NOTHING_NEW, B: moved}) == []
    assert fetch.session_id == session_id


@pytest.mark.parametrize(
    "news",
    [
        RECORDS,
        NOTHING_NEW._replace(has_hint=True),
        NOTHING_NEW._replace(log_start_offset=1),
        NOTHING_NEW._replace(error_code=ErrorCode.OFFSET_OUT_OF_RANGE),
    ],
)
def test_every_kind_of_news_is_told(news: Answer) -> None:
    cache = sessions()
    session_id = opened(cache, A).session_id
    assert cache.begin(request(session_id, 1), now_ms=0).select({A: news}) == [A]


def test_the_end_of_an_error_is_news() -> None:
    cache = sessions()
    session_id = opened(cache, A).session_id
    failed = NOTHING_NEW._replace(error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER)
    cache.begin(request(session_id, 1), now_ms=0).select({A: failed})
    fetch = cache.begin(request(session_id, 2), now_ms=0)
    assert fetch.select({A: NOTHING_NEW}) == [A]


def test_partitions_are_added_changed_and_forgotten() -> None:
    cache = sessions()
    session_id = opened(cache, A, B).session_id
    change = request(session_id, 1, A, C, forgotten=(B,), offset=7)
    fetch = cache.begin(change, now_ms=0)
    assert fetch.wanted == {A: wanted(7), C: wanted(7)}
    assert cache.partition_count == 2
    assert fetch.select({A: NOTHING_NEW, C: NOTHING_NEW}) == [C]


def test_who_was_served_moves_to_the_end() -> None:
    cache = sessions()
    session_id = opened(cache, A, B, C).session_id
    cache.begin(request(session_id, 1), now_ms=0).select(
        {A: RECORDS, B: NOTHING_NEW, C: NOTHING_NEW}
    )
    assert list(cache.begin(request(session_id, 2), now_ms=0).wanted) == [B, C, A]


def test_news_without_records_move_nothing_to_the_end() -> None:
    cache = sessions()
    session_id = opened(cache, A, B).session_id
    news = NOTHING_NEW._replace(high_watermark=6)
    fetch = cache.begin(request(session_id, 1), now_ms=0)
    assert fetch.select({A: news, B: NOTHING_NEW}) == [A]
    assert list(cache.begin(request(session_id, 2), now_ms=0).wanted) == [A, B]


def test_forgetting_the_last_partition_ends_the_session() -> None:
    cache = sessions()
    session_id = opened(cache, A).session_id
    fetch = cache.begin(request(session_id, 1, forgotten=(A,)), now_ms=0)
    assert fetch.session_id == 0
    assert len(cache) == 0


def test_unknown_sessions_and_wrong_epochs_are_refused() -> None:
    cache = sessions()
    session_id = opened(cache, A).session_id
    refusals = {
        ErrorCode.FETCH_SESSION_ID_NOT_FOUND: request(session_id + 1, 1),
        ErrorCode.INVALID_FETCH_SESSION_EPOCH: request(session_id, 2),
        ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR: request(session_id, 1, uses_topic_ids=True),
    }
    for code, refused in refusals.items():
        with pytest.raises(KafkaError) as caught:
            cache.begin(refused, now_ms=0)
        assert caught.value.code == code
    assert cache.begin(request(session_id, 1), now_ms=0).session_id == session_id


@pytest.mark.parametrize("epoch", [INITIAL_EPOCH, FINAL_EPOCH])
def test_a_full_request_ends_the_session_it_names(epoch: int) -> None:
    cache = sessions()
    session_id = opened(cache, A).session_id
    fetch = cache.begin(request(session_id, epoch, B), now_ms=0)
    assert fetch.session_id != session_id
    with pytest.raises(KafkaError):
        cache.begin(request(session_id, 1), now_ms=0)


def test_the_epoch_after_the_largest_is_one() -> None:
    cache = sessions()
    session_id = opened(cache, A).session_id
    cache._sessions[session_id].epoch = 2**31 - 1
    cache.begin(request(session_id, 2**31 - 1), now_ms=0)
    assert cache.begin(request(session_id, 1), now_ms=0).session_id == session_id


def test_when_all_slots_are_taken_a_newcomer_gets_no_session() -> None:
    cache = sessions(slots=1)
    opened(cache, A)
    fetch = cache.begin(request(0, INITIAL_EPOCH, B), now_ms=0)
    assert fetch.session_id == 0
    assert fetch.select({B: NOTHING_NEW}) == [B]


def test_an_idle_session_makes_room() -> None:
    cache = sessions(slots=1)
    opened(cache, A)
    assert cache.begin(request(0, INITIAL_EPOCH, B), now_ms=EVICTION_MS + 1).session_id
    assert cache.evicted_count == 1


def test_a_follower_pushes_out_a_consumer_but_not_the_reverse() -> None:
    cache = sessions(slots=1)
    opened(cache, A)
    follower = cache.begin(request(0, INITIAL_EPOCH, B, is_follower=True), now_ms=0)
    assert follower.session_id
    assert len(cache) == 1
    assert cache.begin(request(0, INITIAL_EPOCH, A, B, C), now_ms=0).session_id == 0


def test_followers_do_not_push_out_each_other_soon() -> None:
    cache = sessions(slots=1)
    follower = request(0, INITIAL_EPOCH, A, is_follower=True)
    assert cache.begin(follower, now_ms=0).session_id
    larger = request(0, INITIAL_EPOCH, B, C, is_follower=True)
    assert cache.begin(larger, now_ms=EVICTION_MS).session_id == 0


def test_a_larger_session_pushes_out_a_smaller_one_that_is_old() -> None:
    cache = sessions(slots=1)
    session_id = opened(cache, A).session_id
    late_ms = EVICTION_MS + 1
    cache.begin(request(session_id, 1), now_ms=late_ms)
    assert cache.begin(request(0, INITIAL_EPOCH, B), now_ms=late_ms).session_id == 0
    assert cache.begin(request(0, INITIAL_EPOCH, B, C), now_ms=late_ms).session_id


def test_no_slots_means_no_sessions() -> None:
    assert sessions(slots=0).begin(request(0, INITIAL_EPOCH, A), now_ms=0).session_id == 0


@pytest.mark.parametrize(("is_follower", "told"), [(True, [A]), (False, [])])
def test_a_follower_that_asks_otherwise_hears_the_high_watermark_again(
    is_follower: bool, told: list[PartitionKey]
) -> None:
    cache = sessions()
    fetch = cache.begin(request(0, INITIAL_EPOCH, A, B, is_follower=is_follower), now_ms=0)
    fetch.select(dict.fromkeys((A, B), NOTHING_NEW))
    # It may have begun a new epoch, and dropped the answer to the one before.
    again = cache.begin(
        request(fetch.session_id, 1, A, offset=3, is_follower=is_follower), now_ms=1
    )
    assert again.select(dict.fromkeys((A, B), NOTHING_NEW)) == told


def test_a_request_for_many_more_partitions_than_are_here_is_refused() -> None:
    cache = sessions(hosted=10)
    cache.check_count(STRANGE_PARTITIONS_MAX + 10)
    with pytest.raises(KafkaError) as refused:
        cache.check_count(STRANGE_PARTITIONS_MAX + 11)
    assert refused.value.code == ErrorCode.INVALID_REQUEST


def test_what_all_consumers_sessions_remember_is_bounded_and_followers_keep_theirs() -> None:
    size = REMEMBERED_MAX // 2
    cache = sessions(hosted=size)
    keys = many(size)
    follower = request(0, INITIAL_EPOCH, *keys, is_follower=True)
    for _ in range(3):
        assert cache.begin(follower, now_ms=0).session_id
    first, second = (opened(cache, *keys) for _ in range(2))
    refused = cache.begin(request(0, INITIAL_EPOCH, A), now_ms=EVICTION_MS)
    assert refused.session_id == 0
    assert list(refused.wanted) == [A]
    cache.begin(request(second.session_id, 1), now_ms=EVICTION_MS)
    taken = cache.begin(request(0, INITIAL_EPOCH, A), now_ms=EVICTION_MS + 1)
    assert taken.session_id
    assert first.session_id not in cache
    assert second.session_id in cache
    assert cache.evicted_count == 1
    assert cache.begin(follower, now_ms=EVICTION_MS + 1).session_id


def test_a_session_that_grows_too_large_ends() -> None:
    cache = sessions()
    fetch = opened(cache, A)
    grown = cache.begin(request(fetch.session_id, 1, *many(STRANGE_PARTITIONS_MAX)), now_ms=0)
    assert len(grown.wanted) == STRANGE_PARTITIONS_MAX
    with pytest.raises(KafkaError) as refused:
        cache.begin(request(fetch.session_id, 2, C), now_ms=0)
    assert refused.value.code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert fetch.session_id not in cache
