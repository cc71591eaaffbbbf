"""DeleteAcls (key 31): remove access rules.

Version 1 adds pattern types, such as prefixes (KIP-290); 2 is flexible; 3 adds users as resources
(KIP-373).
"""

from moldau.broker.access.rule_messages import filter_of
from moldau.broker.access.rule_store import AccessRuleStore, require_rules
from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.delete_acls import (
    DeleteAclsFilter,
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from moldau.security.acls import Acl, Operation


async def handle(
    request: DeleteAclsRequest, context: Context, broker: Broker
) -> DeleteAclsResponse:
    broker.authorizer.require(context, Operation.ALTER)
    store = require_rules(broker.access_rules, "No Authorizer is configured.")
    results = [await _delete(one, context, store) async for one in context.each(request.filters)]
    return DeleteAclsResponse(throttle_time_ms=0, filter_results=results)


async def refuse(
    request: DeleteAclsRequest, context: Context, error: KafkaError
) -> DeleteAclsResponse:
    results = [_result(error) async for _ in context.each(request.filters)]
    return DeleteAclsResponse(throttle_time_ms=0, filter_results=results)


async def _delete(
    asked: DeleteAclsFilter, context: Context, store: AccessRuleStore
) -> DeleteAclsFilterResult:
    result = _result(None)
    try:
        wanted = filter_of(asked)
    except KafkaError as error:
        return _result(error)
    async for pattern in context.each(store.rules.patterns(wanted)):
        if any(wanted.matches(acl) for acl in store.rules.of(pattern)):
            result.matching_acls += map(_removed, await store.remove(pattern, wanted.matches))
    return result


def _result(error: KafkaError | None) -> DeleteAclsFilterResult:
    return DeleteAclsFilterResult(
        error_code=ErrorCode.NONE if error is None else error.code,
        error_message=None if error is None else error.message,
        matching_acls=[],
    )


def _removed(acl: Acl) -> DeleteAclsMatchingAcl:
    return DeleteAclsMatchingAcl(
        error_code=ErrorCode.NONE,
        error_message=None,
        resource_type=acl.resource_type,
        resource_name=acl.resource_name,
        pattern_type=acl.pattern_type,
        principal=acl.principal,
        host=acl.host,
        operation=acl.operation,
        permission_type=acl.permission,
    )
