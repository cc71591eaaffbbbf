"""DescribeClientQuotas: quotas as they were set."""

import pytest

from moldau.broker.settings.client_quotas import QuotaChange
from moldau.errors import ErrorCode
from moldau.protocol.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
)
from unit.broker.world import World


@pytest.mark.parametrize("version", range(2))
async def test_a_quota_is_shown_with_its_entity(world: World, version: int) -> None:
    change = QuotaChange("request_percentage", 12.5)
    await world.broker.client_quotas.alter({"user": None}, [change], is_only_checked=False)
    component = ComponentData(entity_type="user", match_type=1, match=None)
    request = DescribeClientQuotasRequest(components=[component], strict=True)
    response = await world.ask(request, version)
    assert response.error_code == ErrorCode.NONE
    (entry,) = response.entries
    assert [(one.entity_type, one.entity_name) for one in entry.entity] == [("user", None)]
    assert [(one.key, one.value) for one in entry.values] == [("request_percentage", 12.5)]


async def test_a_type_of_entity_that_is_not_known_is_refused(world: World) -> None:
    component = ComponentData(entity_type="planet", match_type=2, match=None)
    request = DescribeClientQuotasRequest(components=[component], strict=False)
    response = await world.ask(request, 1)
    assert (response.error_code, response.entries) == (ErrorCode.UNSUPPORTED_VERSION, None)
