"""What a handler knows about the request beside its body: the client, and its address."""

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from moldau.runtime.turns import Turns

Item = TypeVar("Item")

_SHOWN_CHARACTERS = 100


class Client(NamedTuple):
    """The connection a request came in on."""

    listener: str
    host: str
    """The client's address."""
    local_host: str
    """The address it connected to: what it can reach this broker by."""
    local_port: int
    principal: str = "User:ANONYMOUS"


@dataclass(slots=True)
class Context:
    """One request's circumstances."""

    api_version: int
    client_id: str
    client: Client
    turns: Turns = field(default_factory=Turns)

    def each(self, items: Iterable[Item]) -> AsyncIterator[Item]:
        """The elements of a list that may be long: others get their turn between two of them.

        What another request may change meanwhile must be looked at again, or held.
        """
        return self.turns.each(items)

    @property
    def who(self) -> str:
        """The client, for the log: in one line, whatever it calls itself."""
        return f"client {self.client_id[:_SHOWN_CHARACTERS]!r} at {self.client.host}"
