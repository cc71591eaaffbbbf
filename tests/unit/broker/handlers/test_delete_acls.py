"""DeleteAcls: there are no rules without an authoriser."""

import pytest

from moldau.errors import ErrorCode
from moldau.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from unit.broker.world import World


@pytest.mark.parametrize("version", range(4))
async def test_without_an_authoriser_every_filter_is_refused(world: World, version: int) -> None:
    wanted = DeleteAclsFilter(
        resource_type_filter=1,
        resource_name_filter=None,
        principal_filter=None,
        host_filter=None,
        operation=1,
        permission_type=1,
    )
    response = await world.ask(DeleteAclsRequest(filters=[wanted] * 2), version)
    codes = [(one.error_code, one.matching_acls) for one in response.filter_results]
    assert codes == [(ErrorCode.SECURITY_DISABLED, [])] * 2
