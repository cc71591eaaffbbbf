"""What a handler knows about the request beside its body: who asks, and from where."""

from dataclasses import dataclass
from typing import NamedTuple


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
