"""What a heartbeat must say, checked before the group is looked at."""

from collections.abc import Collection

from moldau.coordinator.group.consumer.member import JOINING, LEFT_FOR_A_WHILE
from moldau.coordinator.group.consumer.messages import Heartbeat
from moldau.coordinator.group.consumer.pattern import check_pattern
from moldau.errors import ErrorCode, KafkaError


def check(heartbeat: Heartbeat, assignors: Collection[str]) -> None:
    """Raise for a heartbeat that says too little, or what cannot be."""
    _require(heartbeat.instance_id != "", "InstanceId can't be empty.")
    _require(heartbeat.rack_id != "", "RackId can't be empty.")
    _require(heartbeat.epoch >= LEFT_FOR_A_WHILE, "MemberEpoch is invalid.")
    if heartbeat.must_have_id or heartbeat.epoch != JOINING:
        _require(heartbeat.member_id != "", "MemberId can't be empty.")
    if heartbeat.epoch == LEFT_FOR_A_WHILE:
        _require(heartbeat.instance_id is not None, "InstanceId can't be null.")
    if heartbeat.epoch == JOINING:
        _check_joining(heartbeat)
    if heartbeat.assignor is not None and heartbeat.assignor not in assignors:
        raise KafkaError(
            ErrorCode.UNSUPPORTED_ASSIGNOR,
            f"{heartbeat.assignor!r} is none of the assignors {', '.join(assignors)}.",
        )
    if heartbeat.topic_pattern:
        check_pattern(heartbeat.topic_pattern)


def _check_joining(heartbeat: Heartbeat) -> None:
    _require(
        heartbeat.rebalance_timeout_ms is not None, "RebalanceTimeoutMs is needed when joining."
    )
    _require(heartbeat.owned == {}, "TopicPartitions must be empty when joining.")
    if heartbeat.must_have_id:  # since then members may subscribe to nothing, or by pattern
        has_subscription = heartbeat.topic_names is not None or heartbeat.topic_pattern is not None
    else:
        has_subscription = bool(heartbeat.topic_names)
    _require(has_subscription, "A subscription is needed when joining.")


def _require(is_fulfilled: bool, message: str) -> None:
    if not is_fulfilled:
        raise KafkaError(ErrorCode.INVALID_REQUEST, message)
