"""The tree of nodes that a cluster agrees on: a port, shaped like ZooKeeper's client.

What every adapter keeps:

- Requests of one session take effect in the order in which they were made.
- A watch fires once, and before any result that shows the change. When a broken connection
  is back, all watches fire, whether something has changed or not.
- A session's ephemeral nodes vanish when it ends; a lost session never comes back.
- Callbacks run on the event loop, one at a time.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Protocol

ANY_VERSION = -1
NO_SESSION = 0


@dataclass(frozen=True, slots=True)
class NodeStat:
    """What the tree knows about a node beside its data."""

    czxid: int
    """The transaction that created it."""
    mzxid: int
    """The transaction that last set its data."""
    version: int
    """How often its data was set."""
    ephemeral_owner: int
    """The session that it belongs to, or NO_SESSION."""
    children_count: int
    created_ms: int
    changed_ms: int
    pzxid: int = 0
    """The transaction that last added or removed a child."""
    children_version: int = 0
    acl_version: int = 0


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A node's data, and what the tree knows about it."""

    data: bytes
    """Empty where there is none."""
    stat: NodeStat


@dataclass(frozen=True, slots=True)
class Created:
    """A node that was created, under the name that it got."""

    path: str
    stat: NodeStat


@dataclass(frozen=True, slots=True)
class Create:
    """Add a node below an existing one."""

    path: str
    data: bytes | None = None
    """None is no data, which ZooKeeper and Apache's brokers distinguish from empty data: brokers
    fail on a node that they expect to have none and that has empty data instead."""
    is_ephemeral: bool = False
    is_sequential: bool = False
    """Ten digits are added to the path, counting the children ever created there."""
    acls: str = ""
    """Who may do what, as the tree's own server stores it; empty: everybody everything."""


@dataclass(frozen=True, slots=True)
class SetData:
    """Replace a node's data, if it has that version."""

    path: str
    data: bytes | None
    version: int = ANY_VERSION


@dataclass(frozen=True, slots=True)
class Delete:
    """Remove a node without children, if it has that version."""

    path: str
    version: int = ANY_VERSION


@dataclass(frozen=True, slots=True)
class Check:
    """Only go on if a node has that version."""

    path: str
    version: int = ANY_VERSION


Operation = Create | SetData | Delete | Check
Result = str | NodeStat | None
"""What an operation of a `multi` gives: Create its path, SetData the stat, others nothing."""


class Change(Enum):
    """What happened to a watched node."""

    CREATED = auto()
    DELETED = auto()
    DATA = auto()
    CHILDREN = auto()
    UNKNOWN = auto()
    """The connection was broken for a while: look again."""


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """What a watch was waiting for."""

    change: Change
    path: str
    acls: str = field(default="", compare=False)
    """Who may do what with the node, as the tree's own server stores it: clients that may not read
    it get no events of it either."""


class SessionState(Enum):
    """Whether the tree can be reached; LOST is the end."""

    CONNECTED = auto()
    SUSPENDED = auto()
    LOST = auto()


Watch = Callable[[WatchEvent], None]
SessionListener = Callable[[SessionState], None]


class TreeError(Exception):
    """A request that the tree refused."""

    def __init__(self, path: str, index: int = 0) -> None:
        super().__init__(path)
        self.path = path
        self.index = index
        """Which operation of a `multi` failed."""


class NoNode(TreeError):
    """The node, or the parent of a new one, does not exist."""


class NodeExists(TreeError):
    """The node to create exists."""


class BadVersion(TreeError):
    """The node has another version."""


class NotEmpty(TreeError):
    """The node to delete has children."""


class NoChildrenForEphemerals(TreeError):
    """The parent of a new node is ephemeral."""


class NotAllowed(TreeError):
    """The tree's own access control refused the request."""


class SessionError(Exception):
    """A request that has no answer."""


class ConnectionLost(SessionError):
    """The connection broke: whether the request took effect is not known."""


class SessionLost(SessionError):
    """The session is over: its ephemeral nodes are gone or will be."""


class Tree(Protocol):
    """One session with the tree. Every method may raise SessionError."""

    @property
    def session_id(self) -> int:
        """The owner of this session's ephemeral nodes."""

    async def get(self, path: str, *, watch: Watch | None = None) -> TreeNode:
        """The node, or NoNode; the watch waits for new data or the end of the node."""

    async def exists(self, path: str, *, watch: Watch | None = None) -> NodeStat | None:
        """What is known about the node; the watch also waits for a missing one."""

    async def children(self, path: str, *, watch: Watch | None = None) -> list[str]:
        """The names of a node's children, sorted, or NoNode; the watch waits for others."""

    async def create(self, operation: Create) -> Created:
        """Add a node; NoNode without a parent, NodeExists."""

    async def set(self, path: str, data: bytes, *, version: int = ANY_VERSION) -> NodeStat:
        """Replace a node's data; NoNode, BadVersion."""

    async def delete(self, path: str, *, version: int = ANY_VERSION) -> None:
        """Remove a node; NoNode, BadVersion, NotEmpty."""

    async def multi(self, operations: Sequence[Operation]) -> list[Result]:
        """All of the operations, or none and the first one's error with its index."""

    def listen(self, listener: SessionListener) -> None:
        """Call the listener at every change of the session's state from now on."""

    async def close(self) -> None:
        """End the session; its ephemeral nodes go."""


def parent_path(path: str) -> str:
    """The path of the node above; the root's is the root."""
    return path.rpartition("/")[0] or "/"


def check_path(path: str) -> None:
    """Assert that a path is one: absolute, without empty parts, no slash at the end."""
    assert path == "/" or (path.startswith("/") and all(path[1:].split("/"))), path
