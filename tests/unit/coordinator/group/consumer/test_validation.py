"""Heartbeats that say what cannot be."""

from dataclasses import replace

import pytest

from moldau.coordinator.group.consumer.messages import Heartbeat
from moldau.coordinator.group.consumer.validation import check
from moldau.errors import ErrorCode, KafkaError
from unit.coordinator.group.consumer.samples import T, beating, joining

JOINING = joining("a")
REFUSED = [
    replace(JOINING, instance_id=""),
    replace(JOINING, rack_id=""),
    replace(JOINING, rebalance_timeout_ms=None),
    replace(JOINING, owned=None),
    replace(JOINING, owned={T: (0,)}),
    replace(JOINING, topic_names=None),
    replace(JOINING, topic_names=()),
    replace(JOINING, topic_names=None, must_have_id=True),
    replace(JOINING, member_id="", must_have_id=True),
    beating("", 1),
    beating("", -1),
    beating("a", -2),
    beating("a", -3),
]
ACCEPTED = [
    JOINING,
    replace(JOINING, member_id=""),
    replace(JOINING, topic_names=(), must_have_id=True),
    replace(joining("a", pattern="t.*"), topic_names=None, must_have_id=True),
    replace(JOINING, assignor="range"),
    beating("a", 1),
    beating("a", -1),
    beating("a", -2, instance_id="one"),
]


@pytest.mark.parametrize("heartbeat", REFUSED)
def test_too_little_is_refused(heartbeat: Heartbeat) -> None:
    with pytest.raises(KafkaError) as caught:
        check(heartbeat, ["range"])
    assert caught.value.code is ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize("heartbeat", ACCEPTED)
def test_enough_is_enough(heartbeat: Heartbeat) -> None:
    check(heartbeat, ["range"])


@pytest.mark.parametrize(
    ("heartbeat", "error"),
    [
        (replace(JOINING, assignor="mine"), ErrorCode.UNSUPPORTED_ASSIGNOR),
        (joining("a", "t", pattern="("), ErrorCode.INVALID_REGULAR_EXPRESSION),
    ],
)
def test_errors_have_their_codes(heartbeat: Heartbeat, error: ErrorCode) -> None:
    with pytest.raises(KafkaError) as caught:
        check(heartbeat, ["range"])
    assert caught.value.code is error
