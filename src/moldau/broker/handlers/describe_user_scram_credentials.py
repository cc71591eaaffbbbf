"""DescribeUserScramCredentials (key 50): show which users have passwords (KIP-554)."""

from collections import Counter

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.login.user_changes import MECHANISM_NUMBERS
from moldau.errors import ErrorCode
from moldau.protocol.messages.describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)
from moldau.security.acls import Operation, ResourceType


async def handle(
    request: DescribeUserScramCredentialsRequest, context: Context, broker: Broker
) -> DescribeUserScramCredentialsResponse:
    broker.authorizer.require(context, Operation.DESCRIBE, ResourceType.CLUSTER)
    asked = [one.name for one in request.users or ()]
    times = Counter(asked)
    results = []
    async for name in context.each(dict.fromkeys(asked) or await broker.users.names()):
        if times[name] > 1:
            results.append(_refused(name, ErrorCode.DUPLICATE_RESOURCE, _TWICE.format(name)))
            continue
        secrets = await broker.users.described(name) if name else {}
        if secrets:
            infos = [
                CredentialInfo(mechanism=MECHANISM_NUMBERS[each], iterations=secret.iterations)
                for each, secret in secrets.items()
            ]
            results.append(_result(name, infos))
        elif asked:
            results.append(_refused(name, ErrorCode.RESOURCE_NOT_FOUND, _MISSING.format(name)))
    return DescribeUserScramCredentialsResponse(
        throttle_time_ms=0, error_code=ErrorCode.NONE, error_message=None, results=results
    )


_MISSING = "Attempt to describe a user credential that does not exist: {}"
_TWICE = "Cannot describe SCRAM credentials for the same user twice in a single request: {}"


def _result(name: str, infos: list[CredentialInfo]) -> DescribeUserScramCredentialsResult:
    return DescribeUserScramCredentialsResult(
        user=name, error_code=ErrorCode.NONE, error_message=None, credential_infos=infos
    )


def _refused(name: str, code: ErrorCode, message: str) -> DescribeUserScramCredentialsResult:
    return DescribeUserScramCredentialsResult(
        user=name, error_code=code, error_message=message, credential_infos=[]
    )
