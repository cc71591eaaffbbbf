"""Access control lists: a node per resource, in one tree per kind of pattern."""

from collections.abc import Iterable
from dataclasses import dataclass

from moldau.coordination.layout.documents import Document, NodeDataError, encode

LITERAL_PATH = "/kafka-acl"
PREFIXED_PATH = "/kafka-acl-extended/prefixed"
LITERAL_CHANGES_PATH = "/kafka-acl-changes"
EXTENDED_CHANGES_PATH = "/kafka-acl-extended-changes"
CHANGE_NAME = "acl_changes_"
_VERSION = 1

RESOURCE_TYPES = ("Topic", "Group", "Cluster", "TransactionalId", "DelegationToken", "User")
_BY_WIRE_NAME = {
    "TOPIC": "Topic",
    "GROUP": "Group",
    "CLUSTER": "Cluster",
    "TRANSACTIONAL_ID": "TransactionalId",
    "DELEGATION_TOKEN": "DelegationToken",
    "USER": "User",
}
_WIRE_NAMES = {node_name: wire_name for wire_name, node_name in _BY_WIRE_NAME.items()}

ROOT_PATHS = (
    *(f"{LITERAL_PATH}/{kind}" for kind in RESOURCE_TYPES),
    *(f"{PREFIXED_PATH}/{kind}" for kind in RESOURCE_TYPES),
    LITERAL_CHANGES_PATH,
    EXTENDED_CHANGES_PATH,
)


@dataclass(frozen=True, slots=True)
class ResourcePattern:
    """Which resources: one by its name, or all whose names begin like this."""

    type: str
    """One of RESOURCE_TYPES."""
    name: str
    is_prefix: bool = False

    @property
    def path(self) -> str:
        root = PREFIXED_PATH if self.is_prefix else LITERAL_PATH
        return f"{root}/{self.type}/{self.name}"

    @property
    def change_prefix(self) -> str:
        """Where a change is announced."""
        root = EXTENDED_CHANGES_PATH if self.is_prefix else LITERAL_CHANGES_PATH
        return f"{root}/{CHANGE_NAME}"


@dataclass(frozen=True, slots=True)
class AclEntry:
    """What a principal may, or may not, do from which host."""

    principal: str
    permission: str
    """Allow or Deny."""
    operation: str
    """As in Kafka's documentation: Read, IdempotentWrite, ..."""
    host: str


def encode_acls(entries: Iterable[AclEntry]) -> bytes:
    listed = [
        {
            "principal": entry.principal,
            "permissionType": entry.permission,
            "host": entry.host,
            "operation": entry.operation,
        }
        for entry in entries
    ]
    return encode({"acls": listed, "version": _VERSION})


def decode_acls(data: bytes) -> list[AclEntry]:
    if not data:
        return []
    document = Document.decode(data)
    if document.integer("version") != _VERSION:
        raise NodeDataError(f"version {document.integer('version')} of access rules is not known")
    return [
        AclEntry(
            each.text("principal"),
            each.text("permissionType"),
            each.text("operation"),
            each.text("host"),
        )
        for each in document.documents("acls")
    ]


def encode_acl_change(pattern: ResourcePattern) -> bytes:
    """A literal pattern in the old form, for brokers that know no other."""
    wire_name = _WIRE_NAMES[pattern.type]
    if not pattern.is_prefix:
        return f"{wire_name}:{pattern.name}".encode()
    return encode(
        {
            "version": 1,
            "resourceType": wire_name,
            "name": pattern.name,
            "patternType": "PREFIXED",
        }
    )


def decode_acl_change(data: bytes, *, is_extended: bool) -> ResourcePattern:
    """The pattern whose entries changed, announced below one of the two paths for changes."""
    if is_extended:
        document = Document.decode(data)
        is_prefix = document.text("patternType").upper() == "PREFIXED"
        kind = _node_name(document.text("resourceType"))
        return ResourcePattern(kind, document.text("name"), is_prefix)
    try:
        kind, colon, name = data.decode().partition(":")
    except UnicodeDecodeError as error:
        raise NodeDataError("a resource is no UTF-8") from error
    if not colon:
        raise NodeDataError(f"{kind!r} is no resource")
    return ResourcePattern(_node_name(kind), name)


def _node_name(kind: str) -> str:
    """Kafka 2.x writes Topic, 3.x TOPIC."""
    if kind in RESOURCE_TYPES:
        return kind
    if kind.upper() not in _BY_WIRE_NAME:
        raise NodeDataError(f"{kind!r} is no type of resource")
    return _BY_WIRE_NAME[kind.upper()]
