"""What a handler knows about the request beside its body: who asks, and from where."""

from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple


class Operation(Enum):
    """What somebody may be allowed to do with a resource."""

    READ = auto()
    WRITE = auto()
    CREATE = auto()
    DELETE = auto()
    ALTER = auto()
    DESCRIBE = auto()
    CLUSTER_ACTION = auto()
    DESCRIBE_CONFIGS = auto()
    ALTER_CONFIGS = auto()
    IDEMPOTENT_WRITE = auto()


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
