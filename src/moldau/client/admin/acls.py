"""Access rules of the cluster: shown, added and removed."""

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

from moldau.client.admin.area import AdminArea
from moldau.client.admin.outcomes import Outcomes
from moldau.client.admin.routing import outcome
from moldau.protocol.messages.create_acls import (
    AclCreation,
    CreateAclsRequest,
    CreateAclsResponse,
)
from moldau.protocol.messages.delete_acls import (
    DeleteAclsFilter,
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

Message = TypeVar("Message")


class AclsArea(AdminArea):
    """The part of the Admin client for access rules."""

    async def describe_acls(self, wanted: AclFilter | None = None) -> list[Acl]:
        """The rules that match, or all."""
        asked = wanted or AclFilter()
        request = _asking(DescribeAclsRequest, asked)
        answer = await self._router.anyone(request, DescribeAclsResponse)
        return [_acl(resource, each) for resource in answer.resources for each in resource.acls]

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
        request = DeleteAclsRequest(filters=[_asking(DeleteAclsFilter, each) for each in wanted])
        answer = await self._router.controller(request, DeleteAclsResponse)
        return Outcomes(
            {
                asked: outcome(
                    each.error_code,
                    [_acl(match, match) for match in each.matching_acls if not match.error_code],
                    each.error_message,
                )
                for asked, each in zip(wanted, answer.filter_results, strict=True)
            }
        )


class _Resource(Protocol):
    """What answers say of a resource."""

    resource_type: int
    resource_name: str
    pattern_type: int


class _Entry(Protocol):
    """What answers say of a rule for it."""

    principal: str
    host: str
    operation: int
    permission_type: int


def _acl(resource: _Resource, entry: _Entry) -> Acl:
    return Acl(
        resource_type=ResourceType(resource.resource_type),
        resource_name=resource.resource_name,
        pattern_type=PatternType(resource.pattern_type),
        principal=entry.principal,
        host=entry.host,
        operation=Operation(entry.operation),
        permission=Permission(entry.permission_type),
    )


def _asking(message: Callable[..., Message], wanted: AclFilter) -> Message:
    """A message, or a part of one, with the fields of a filter."""
    return message(
        resource_type_filter=wanted.resource_type,
        resource_name_filter=wanted.resource_name,
        pattern_type_filter=wanted.pattern_type,
        principal_filter=wanted.principal,
        host_filter=wanted.host,
        operation=wanted.operation,
        permission_type=wanted.permission,
    )
