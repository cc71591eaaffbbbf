"""DescribeAcls: there are no rules without an authoriser."""

import pytest

from moldau.errors import ErrorCode
from moldau.protocol.messages.describe_acls import DescribeAclsRequest
from unit.broker.world import World


@pytest.mark.parametrize("version", range(4))
async def test_without_an_authoriser_security_is_off(world: World, version: int) -> None:
    request = DescribeAclsRequest(
        resource_type_filter=1,
        resource_name_filter=None,
        principal_filter=None,
        host_filter=None,
        operation=1,
        permission_type=1,
    )
    response = await world.ask(request, version)
    assert (response.error_code, response.resources) == (ErrorCode.SECURITY_DISABLED, [])
    assert response.error_message == "No Authorizer is configured on the broker"
