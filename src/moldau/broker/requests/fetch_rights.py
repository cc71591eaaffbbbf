"""What a Fetch may not read."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from moldau.broker.requests.fetch_request import ParsedFetch
from moldau.security.acls import Operation, ResourceType

if TYPE_CHECKING:
    from moldau.broker.access.authorizer import Authorizer


def denials_of(authorizer: "Authorizer", request: ParsedFetch) -> Callable[[str], bool]:
    """Which topics the client may not read; asked at every read, also at the end of a wait.

    A follower reads what is not committed, and says what it has: for that it must be a broker
    (CVE-2018-1288).
    """
    if request.replica_id >= 0:
        is_broker = authorizer.may(request, Operation.CLUSTER_ACTION, ResourceType.CLUSTER)
        return nothing if is_broker else everything

    logged: set[str] = set()  # once is enough, however many partitions there are

    def is_denied(topic: str) -> bool:
        read, kind = Operation.READ, ResourceType.TOPIC
        is_allowed = authorizer.may(request, read, kind, topic, log=topic not in logged)
        logged.add(topic)
        return not is_allowed

    return is_denied


def nothing(topic: str) -> bool:  # noqa: ARG001
    """What is denied to brokers."""
    return False


def everything(topic: str) -> bool:  # noqa: ARG001
    """What is denied to those who only say that they are brokers."""
    return True
