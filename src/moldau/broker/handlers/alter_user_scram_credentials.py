"""AlterUserScramCredentials (key 51): set and take away passwords of users (KIP-554).

Only the controller does it. The password itself does not come along: a hash of it does.
"""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.login.user_changes import UserChange, changes_by_user, checked
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
)
from moldau.security.acls import Operation, ResourceType


async def handle(
    request: AlterUserScramCredentialsRequest, context: Context, broker: Broker
) -> AlterUserScramCredentialsResponse:
    if not broker.controller.is_controller:
        raise KafkaError(ErrorCode.NOT_CONTROLLER)
    broker.authorizer.require(context, Operation.ALTER, ResourceType.CLUSTER)
    results = []
    async for user, wanted in context.each(_wanted(request).items()):
        try:
            await broker.users.alter(user, checked(user, wanted))
        except KafkaError as error:
            results.append(_result(user, error))
        else:
            results.append(_result(user, None))
    return AlterUserScramCredentialsResponse(throttle_time_ms=0, results=results)


async def refuse(
    request: AlterUserScramCredentialsRequest, context: Context, error: KafkaError
) -> AlterUserScramCredentialsResponse:
    """The same error for every user."""
    results = [_result(user, error) async for user in context.each(_wanted(request))]
    return AlterUserScramCredentialsResponse(throttle_time_ms=0, results=results)


def _wanted(request: AlterUserScramCredentialsRequest) -> dict[str, list[UserChange]]:
    return changes_by_user((*request.deletions, *request.upsertions))


def _result(user: str, error: KafkaError | None) -> AlterUserScramCredentialsResult:
    return AlterUserScramCredentialsResult(
        user=user,
        error_code=ErrorCode.NONE if error is None else error.code,
        error_message=None if error is None else error.message,
    )
