"""Error responses of APIs that have one place for an error."""

import pytest

from moldau.broker.context import Context
from moldau.broker.refusals import refuser_of
from moldau.errors import ErrorCode, KafkaError
from moldau.net.answer import CloseConnection
from moldau.protocol.apis import APIS
from unit.broker.world import CLIENT

BY_NAME = {api.name: api for api in APIS}
CONTEXT = Context(0, "test", CLIENT)
ERROR = KafkaError(ErrorCode.INVALID_REQUEST, "why")


async def test_the_error_is_told_with_its_reason_where_there_is_room_for_one() -> None:
    response: object = await refuser_of(BY_NAME["DescribeCluster"])(None, CONTEXT, ERROR)
    assert response.error_code == ErrorCode.INVALID_REQUEST  # type: ignore[attr-defined]
    assert response.error_message == "why"  # type: ignore[attr-defined]
    assert response.brokers == []  # type: ignore[attr-defined]


async def test_without_a_place_for_it_the_connection_is_closed() -> None:
    with pytest.raises(CloseConnection, match="Metadata failed: INVALID_REQUEST"):
        await refuser_of(BY_NAME["Metadata"])(None, CONTEXT, ERROR)
