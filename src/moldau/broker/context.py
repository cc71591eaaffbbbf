"""What a handler knows about the request beside its body: the client, and its address."""

from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from moldau.config.listeners import SecurityProtocol
from moldau.runtime.turns import Turns
from moldau.security.principals import ANONYMOUS, Principal

if TYPE_CHECKING:
    from moldau.broker.access.authorizer import Rights
    from moldau.broker.quotas.client_sensors import ClientSensors

Item = TypeVar("Item")

_SHOWN_CHARACTERS = 100


def _wait_for_nobody(_for_ms: int) -> None:
    """Who asks without a connection has nothing to be read."""


@dataclass(slots=True, eq=False)
class Client:
    """The connection a request came in on, and what is known of it: one for each connection."""

    listener: str
    host: str
    """The client's address."""
    local_host: str
    """The address it connected to: what it can reach this broker by."""
    local_port: int
    protocol: SecurityProtocol = SecurityProtocol.PLAINTEXT
    principal: Principal = ANONYMOUS
    is_by_token: bool = False
    """Whether it authenticated with a delegation token."""
    is_this_broker: bool = False
    """Whether this broker asks itself: that needs no rights."""
    context: "Context | None" = None
    """That of its last request on a fast path: most requests of a connection have the same."""
    rights: "Rights | None" = None
    """What was decided about it, as long as the access rules stay as they are."""
    mute: Callable[[int], None] = _wait_for_nobody
    """Reads nothing more of the connection for so many milliseconds."""
    sensors: "ClientSensors | None" = None
    """What its requests are recorded by, where quotas are set."""


@dataclass(slots=True)
class Context:
    """One request's circumstances."""

    api_version: int
    client_id: str
    client: Client
    turns: Turns = field(default_factory=Turns)
    api_name: str = ""
    """What is asked for, for the audit log."""
    request_size: int = 0
    """Of the frame; not known on a fast path."""

    def each(self, items: Iterable[Item]) -> AsyncIterator[Item]:
        """The elements of a list that may be long: others get their turn between two of them.

        What another request may change meanwhile must be looked at again, or held.
        """
        return self.turns.each(items)

    @property
    def who(self) -> str:
        """The client, for the log: in one line, whatever it calls itself."""
        return f"client {self.client_id[:_SHOWN_CHARACTERS]!r} at {self.client.host}"
