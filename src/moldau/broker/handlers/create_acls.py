"""CreateAcls (key 30): add access rules.

Version 1 adds pattern types, such as prefixes (KIP-290); 2 is flexible; 3 adds users as resources
(KIP-373).
"""

import logging

from moldau.broker.access.rule_messages import acl_of, require_storable
from moldau.broker.access.rule_store import require_rules
from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.create_acls import (
    AclCreationResult,
    CreateAclsRequest,
    CreateAclsResponse,
)
from moldau.security.acls import Acl, AclPattern, Operation
from moldau.security.hosts import is_host

_log = logging.getLogger(__name__)


async def handle(
    request: CreateAclsRequest, context: Context, broker: Broker
) -> CreateAclsResponse:
    broker.authorizer.require(context, Operation.ALTER)
    store = require_rules(broker.access_rules, "No Authorizer is configured.")
    errors: dict[int, KafkaError] = {}
    wanted: dict[AclPattern, dict[int, Acl]] = {}
    async for number, creation in context.each(enumerate(request.creations)):
        try:
            acl = acl_of(creation)
            require_storable(acl)
        except KafkaError as error:
            errors[number] = error.kept()
        else:
            wanted.setdefault(acl.pattern, {})[number] = acl
            if not is_host(acl.host):
                _log.warning("Access rule matches no client: host %r is not an address", acl.host)
    async for pattern, acls in context.each(wanted.items()):
        try:
            await store.add(pattern, acls.values())
        except KafkaError as error:
            errors |= dict.fromkeys(acls, error.kept())
    results = [
        _result(errors.get(number)) async for number in context.each(range(len(request.creations)))
    ]
    return CreateAclsResponse(throttle_time_ms=0, results=results)


async def refuse(
    request: CreateAclsRequest, context: Context, error: KafkaError
) -> CreateAclsResponse:
    results = [_result(error) async for _ in context.each(request.creations)]
    return CreateAclsResponse(throttle_time_ms=0, results=results)


def _result(error: KafkaError | None) -> AclCreationResult:
    if error is None:
        return AclCreationResult(error_code=ErrorCode.NONE, error_message=None)
    return AclCreationResult(error_code=error.code, error_message=error.message)
