"""How a session with ZooKeeper is protected, and which users may read and change its nodes."""

import ssl
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol

from moldau.coordination.layout import login_key, tokens

# Old consumers write there themselves.
_OPEN_PATH = "/consumers"
_SENSITIVE_PATHS = (
    *("/config/users", "/config/brokers", tokens.TOKENS_PATH),
    login_key.LOGIN_KEY_PATH,
)


class Login(Protocol):
    """One exchange in which a session authenticates."""

    is_complete: bool

    def begin(self) -> bytes:
        """The first token."""

    def answer(self, challenge: bytes) -> bytes | None:
        """The next token for what the server sent; KafkaError if it is not to be trusted."""


@dataclass(frozen=True, slots=True)
class Protection:
    """All of it is optional; Kafka's default is none."""

    tls: ssl.SSLContext | None = None
    begin_login: Callable[[], Login] | None = None
    has_acls: bool = False
    """Whether nodes belong to the users that made them (`zookeeper.set.acl`)."""


class Access(Enum):
    """Which users may do what with a node."""

    OPEN = auto()
    """All users may do everything."""
    READABLE = auto()
    """Its creator everything, others may read."""
    SECRET = auto()
    """Its creator everything, others nothing."""


def access_of(path: str, protection: Protection) -> Access:
    """What Kafka protects a new node by: passwords and tokens are for brokers alone."""
    if not protection.has_acls or path == _OPEN_PATH:
        return Access.OPEN
    return Access.SECRET if path.startswith(_SENSITIVE_PATHS) else Access.READABLE
