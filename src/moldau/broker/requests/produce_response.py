"""What a Produce answer says of a partition, as a message."""

from typing import TYPE_CHECKING

from moldau.broker.requests.leader_hints import LeaderHints
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    PartitionProduceResponse,
)
from moldau.records.refusal import RecordsRefused

if TYPE_CHECKING:
    from moldau.broker.requests.produce import AppendOutcome


def response_of(
    outcome: "AppendOutcome", topic: str, hints: LeaderHints | None
) -> PartitionProduceResponse:
    """The outcome as a message; with a hint, if the client does not know the leader."""
    response = PartitionProduceResponse(
        index=outcome.index,
        error_code=ErrorCode.NONE,
        base_offset=outcome.base_offset,
        log_append_time_ms=outcome.log_append_time_ms,
        log_start_offset=outcome.log_start_offset,
    )
    if outcome.error is not None:
        put_error(response, outcome.error)
        leader = hints and hints.leader_for(response.error_code, topic, outcome.index)
        if leader:
            response.current_leader = LeaderIdAndEpoch(
                leader_id=leader.leader, leader_epoch=leader.leader_epoch
            )
    return response


def put_error(response: PartitionProduceResponse, error: KafkaError) -> None:
    """Put an error into an answer."""
    response.error_code = error.code
    response.error_message = error.message
    if isinstance(error, RecordsRefused):
        response.record_errors = [
            BatchIndexAndErrorMessage(batch_index=index, batch_index_error_message=reason)
            for index, reason in error.record_errors
        ]
