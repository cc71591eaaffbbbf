"""DescribeDelegationToken (key 41): show tokens, with what proves them (KIP-48).

One sees one's own, those that one may renew, and others' if access rules say so. To ask for the
tokens of no owner is answered with none. Version 2 is flexible; 3 shows the requester (KIP-373).
"""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.login.token_requests import require_token_requests
from moldau.broker.login.token_rules import concerns, is_asked_for
from moldau.coordination.layout.tokens import TokenNode
from moldau.errors import ErrorCode
from moldau.protocol.messages.describe_delegation_token import (
    DescribedDelegationToken,
    DescribedDelegationTokenRenewer,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from moldau.security.acls import Operation, ResourceType
from moldau.security.principals import Principal


async def handle(
    request: DescribeDelegationTokenRequest, context: Context, broker: Broker
) -> DescribeDelegationTokenResponse:
    require_token_requests(context.client)
    broker.tokens.require_enabled()
    owners = None
    if request.owners is not None:
        owners = [Principal(one.principal_type, one.principal_name) for one in request.owners]
    tokens = [
        _described(token, broker)
        async for token in context.each(broker.tokens.all())
        if is_asked_for(token, owners) and _is_visible(token, context, broker)
    ]
    return DescribeDelegationTokenResponse(
        error_code=ErrorCode.NONE, tokens=tokens, throttle_time_ms=0
    )


def _is_visible(token: TokenNode, context: Context, broker: Broker) -> bool:
    may = broker.authorizer.may
    return (
        concerns(token, context.client.principal)
        or may(context, Operation.DESCRIBE, ResourceType.DELEGATION_TOKEN, token.token_id)
        or may(context, Operation.DESCRIBE_TOKENS, ResourceType.USER, token.owner)
    )


def _described(token: TokenNode, broker: Broker) -> DescribedDelegationToken:
    owner, requester = Principal.parse(token.owner), Principal.parse(token.requester)
    renewers = map(Principal.parse, token.renewers)
    return DescribedDelegationToken(
        principal_type=owner.kind,
        principal_name=owner.name,
        token_requester_principal_type=requester.kind,
        token_requester_principal_name=requester.name,
        issue_timestamp=token.issued_ms,
        expiry_timestamp=token.expires_ms,
        max_timestamp=token.max_ms,
        token_id=token.token_id,
        hmac=broker.tokens.hmac_of(token),
        renewers=[
            DescribedDelegationTokenRenewer(principal_type=one.kind, principal_name=one.name)
            for one in renewers
        ],
    )
