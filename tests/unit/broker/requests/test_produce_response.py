"""Errors of a Produce request in its answer."""

from moldau.broker.requests.produce_response import put_error
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.produce import PartitionProduceResponse


def test_an_error_comes_with_its_reason_and_one_without_has_none() -> None:
    response = PartitionProduceResponse(index=0, error_code=ErrorCode.NONE, base_offset=-1)
    put_error(response, KafkaError(ErrorCode.INVALID_RECORD, "no key"))
    assert (response.error_code, response.error_message) == (ErrorCode.INVALID_RECORD, "no key")
    put_error(response, KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED))
    assert response.error_message is None
