"""CreateDelegationToken (key 38): issue a token by which others can log in for a while (KIP-48).

Version 1 reports the throttle time only; 2 is flexible; in 3 one may ask for a token of somebody
else (KIP-373).
"""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.login.token_requests import require_token_requests
from moldau.broker.login.token_rules import TokenOwners
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from moldau.security.acls import Operation, ResourceType
from moldau.security.principals import USER, Principal

_NEVER_MS = -1


async def handle(
    request: CreateDelegationTokenRequest, context: Context, broker: Broker
) -> CreateDelegationTokenResponse:
    require_token_requests(context.client)
    owners = _owners(request, context)
    if owners.owner != owners.requester and not broker.authorizer.may(
        context, Operation.CREATE_TOKENS, ResourceType.USER, str(owners.owner)
    ):
        raise KafkaError(ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED)
    if any(one.kind != USER for one in owners.renewers):
        raise KafkaError(ErrorCode.INVALID_PRINCIPAL_TYPE)
    token = await broker.tokens.create(owners, request.max_lifetime_ms)
    answer = _response(owners, ErrorCode.NONE)
    answer.issue_timestamp_ms = token.issued_ms
    answer.expiry_timestamp_ms = token.expires_ms
    answer.max_timestamp_ms = token.max_ms
    answer.token_id = token.token_id
    answer.hmac = broker.tokens.hmac_of(token)
    return answer


async def refuse(
    request: CreateDelegationTokenRequest, context: Context, error: KafkaError
) -> CreateDelegationTokenResponse:
    return _response(_owners(request, context), error.code)


def _owners(request: CreateDelegationTokenRequest, context: Context) -> TokenOwners:
    requester = context.client.principal
    owner = requester
    if request.owner_principal_name:
        owner = Principal(request.owner_principal_type or "", request.owner_principal_name)
    renewers = [Principal(one.principal_type, one.principal_name) for one in request.renewers]
    return TokenOwners(owner, requester, renewers)


def _response(owners: TokenOwners, code: ErrorCode) -> CreateDelegationTokenResponse:
    return CreateDelegationTokenResponse(
        error_code=code,
        principal_type=owners.owner.kind,
        principal_name=owners.owner.name,
        token_requester_principal_type=owners.requester.kind,
        token_requester_principal_name=owners.requester.name,
        issue_timestamp_ms=_NEVER_MS,
        expiry_timestamp_ms=_NEVER_MS,
        max_timestamp_ms=_NEVER_MS,
        token_id="",
        hmac=b"",
        throttle_time_ms=0,
    )
