"""What a parsed Fetch request says of itself."""

import pytest

from moldau.broker.requests.fetch_request import CONSUMER, FINAL_EPOCH, NO_SESSION, ParsedFetch
from unit.broker.world import CLIENT


def request(version: int, replica_id: int) -> ParsedFetch:
    return ParsedFetch(
        client=CLIENT,
        client_id="test",
        version=version,
        replica_id=replica_id,
        max_wait_ms=0,
        min_bytes=1,
        max_bytes=1,
        isolation_level=0,
        session_id=NO_SESSION,
        session_epoch=FINAL_EPOCH,
        wanted={},
    )


@pytest.mark.parametrize(("replica_id", "expected"), [(CONSUMER, False), (-2, False), (0, True)])
def test_brokers_have_numbers_from_zero_on(replica_id: int, expected: bool) -> None:
    assert request(12, replica_id).is_follower is expected


@pytest.mark.parametrize(("version", "expected"), [(12, False), (13, True)])
def test_topics_have_ids_since_version_13(version: int, expected: bool) -> None:
    assert request(version, CONSUMER).uses_topic_ids is expected
