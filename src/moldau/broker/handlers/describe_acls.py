"""DescribeAcls (key 29): show access rules; without an authoriser there are none.

Version 1 adds pattern types, such as prefixes (KIP-290); 2 is flexible; 3 adds users as resources
(KIP-373).
"""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse


async def handle(
    request: DescribeAclsRequest, context: Context, broker: Broker
) -> DescribeAclsResponse:
    message = "No Authorizer is configured on the broker"
    raise KafkaError(ErrorCode.SECURITY_DISABLED, message)
