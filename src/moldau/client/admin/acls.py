"""Access rules of the cluster: shown, added and removed."""

from collections.abc import Iterable

from moldau.client.admin.area import Area
from moldau.client.admin.outcomes import Outcomes
from moldau.client.admin.routing import outcome
from moldau.protocol.messages.create_acls import (
    AclCreation,
    CreateAclsRequest,
    CreateAclsResponse,
)
from moldau.protocol.messages.delete_acls import (
    DeleteAclsFilter,
    DeleteAclsMatchingAcl,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from moldau.protocol.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse
from moldau.security.acls import (
    Acl,
    AclFilter,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)


class Acls(Area):
    """The part of the Admin client for access rules."""

    async def describe_acls(self, wanted: AclFilter | None = None) -> list[Acl]:
        """The rules that match, or all."""
        asked = wanted or AclFilter()
        request = DescribeAclsRequest(
            resource_type_filter=asked.resource_type,
            resource_name_filter=asked.resource_name,
            pattern_type_filter=asked.pattern_type,
            principal_filter=asked.principal,
            host_filter=asked.host,
            operation=asked.operation,
            permission_type=asked.permission,
        )
        answer = await self._router.anyone(request, DescribeAclsResponse)
        return [
            Acl(
                resource_type=ResourceType(resource.resource_type),
                resource_name=resource.resource_name,
                pattern_type=PatternType(resource.pattern_type),
                principal=each.principal,
                host=each.host,
                operation=Operation(each.operation),
                permission=Permission(each.permission_type),
            )
            for resource in answer.resources
            for each in resource.acls
        ]

    async def create_acls(self, acls: Iterable[Acl]) -> Outcomes[Acl, None]:
        """Add rules."""
        wanted = list(dict.fromkeys(acls))
        request = CreateAclsRequest(
            creations=[
                AclCreation(
                    resource_type=each.resource_type,
                    resource_name=each.resource_name,
                    resource_pattern_type=each.pattern_type,
                    principal=each.principal,
                    host=each.host,
                    operation=each.operation,
                    permission_type=each.permission,
                )
                for each in wanted
            ]
        )
        answer = await self._router.controller(request, CreateAclsResponse)
        return Outcomes(
            {
                acl: outcome(each.error_code, None, each.error_message)
                for acl, each in zip(wanted, answer.results, strict=True)
            }
        )

    async def delete_acls(self, filters: Iterable[AclFilter]) -> Outcomes[AclFilter, list[Acl]]:
        """Remove the rules that match, and return those that are gone."""
        wanted = list(dict.fromkeys(filters))
        request = DeleteAclsRequest(
            filters=[
                DeleteAclsFilter(
                    resource_type_filter=each.resource_type,
                    resource_name_filter=each.resource_name,
                    pattern_type_filter=each.pattern_type,
                    principal_filter=each.principal,
                    host_filter=each.host,
                    operation=each.operation,
                    permission_type=each.permission,
                )
                for each in wanted
            ]
        )
        answer = await self._router.controller(request, DeleteAclsResponse)
        return Outcomes(
            {
                asked: outcome(
                    each.error_code,
                    [_acl(match) for match in each.matching_acls if not match.error_code],
                    each.error_message,
                )
                for asked, each in zip(wanted, answer.filter_results, strict=True)
            }
        )


def _acl(match: DeleteAclsMatchingAcl) -> Acl:
    return Acl(
        resource_type=ResourceType(match.resource_type),
        resource_name=match.resource_name,
        pattern_type=PatternType(match.pattern_type),
        principal=match.principal,
        host=match.host,
        operation=Operation(match.operation),
        permission=Permission(match.permission_type),
    )
