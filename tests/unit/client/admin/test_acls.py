"""Access rules."""

import pytest

from moldau.client.admin.admin import Admin
from moldau.errors import InvalidRequest, SecurityDisabled
from moldau.protocol.messages.create_acls import AclCreationResult, CreateAclsResponse
from moldau.protocol.messages.delete_acls import (
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsResponse,
)
from moldau.protocol.messages.describe_acls import (
    AclDescription,
    DescribeAclsResource,
    DescribeAclsResponse,
)
from moldau.security.acls import Acl, AclFilter, Operation, PatternType, Permission, ResourceType
from unit.client.admin.answering import Answering, admin_of

RULE = Acl(
    resource_type=ResourceType.TOPIC,
    resource_name="t",
    principal="User:anna",
    operation=Operation.READ,
)


async def test_a_broker_without_rules_says_so(admin: Admin) -> None:
    with pytest.raises(SecurityDisabled):
        await admin.describe_acls()
    with pytest.raises(SecurityDisabled):
        (await admin.create_acls([RULE])).check()
    with pytest.raises(SecurityDisabled):
        (await admin.delete_acls([AclFilter()])).check()


async def test_rules_are_shown() -> None:
    entry = AclDescription(principal="User:anna", host="*", operation=3, permission_type=3)
    resource = DescribeAclsResource(resource_type=2, resource_name="t", acls=[entry])
    answer = DescribeAclsResponse(
        throttle_time_ms=0, error_code=0, error_message=None, resources=[resource]
    )
    broker = Answering(DescribeAcls=lambda _: answer)
    async with admin_of(broker) as admin:
        wanted = AclFilter(principal="User:anna", pattern_type=PatternType.MATCH)
        assert await admin.describe_acls(wanted) == [RULE]
    assert broker.asked[0].principal_filter == "User:anna"
    assert broker.asked[0].pattern_type_filter == PatternType.MATCH


async def test_each_rule_has_its_own_outcome() -> None:
    results = [
        AclCreationResult(error_code=0, error_message=None),
        AclCreationResult(error_code=42, error_message="no such"),
    ]
    answer = CreateAclsResponse(throttle_time_ms=0, results=results)
    wrong = Acl(
        resource_type=ResourceType.CLUSTER,
        resource_name="x",
        principal="User:anna",
        operation=Operation.ALL,
        permission=Permission.DENY,
    )
    async with admin_of(Answering(CreateAcls=lambda _: answer)) as admin:
        outcomes = await admin.create_acls([RULE, wrong])
    assert outcomes[RULE] is None
    with pytest.raises(InvalidRequest, match="no such"):
        outcomes[wrong]


async def test_what_is_removed_is_returned() -> None:
    match = DeleteAclsMatchingAcl(
        error_code=0,
        error_message=None,
        resource_type=2,
        resource_name="t",
        principal="User:anna",
        host="*",
        operation=3,
        permission_type=3,
    )
    result = DeleteAclsFilterResult(error_code=0, error_message=None, matching_acls=[match])
    answer = DeleteAclsResponse(throttle_time_ms=0, filter_results=[result])
    async with admin_of(Answering(DeleteAcls=lambda _: answer)) as admin:
        assert (await admin.delete_acls([AclFilter()]))[AclFilter()] == [RULE]
