"""CreateAcls: there are no rules without an authoriser."""

import pytest

from moldau.errors import ErrorCode
from moldau.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from unit.broker.world import World


@pytest.mark.parametrize("version", range(4))
async def test_without_an_authoriser_every_rule_is_refused(world: World, version: int) -> None:
    creation = AclCreation(
        resource_type=2,
        resource_name="t",
        principal="User:alice",
        host="*",
        operation=3,
        permission_type=3,
    )
    response = await world.ask(CreateAclsRequest(creations=[creation] * 2), version)
    assert [one.error_code for one in response.results] == [ErrorCode.SECURITY_DISABLED] * 2
