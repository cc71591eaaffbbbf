"""Dynamic settings: of topics, brokers, clients, users and addresses."""

from collections.abc import Mapping
from dataclasses import dataclass

from moldau.coordination.layout.documents import Document, NodeDataError, encode
from moldau.coordination.layout.names import DEFAULT_ENTITY, desanitize, sanitize

CHANGES_PATH = "/config/changes"
CHANGE_PREFIX = f"{CHANGES_PATH}/config_change_"
TYPES = ("topics", "clients", "users", "brokers", "ips")


@dataclass(frozen=True, slots=True)
class ConfigEntity:
    """Whose settings these are; a name of None stands for all without their own."""

    type: str
    name: str | None
    client: str | None = None
    """For settings of a user's client alone."""
    has_client: bool = False
    """Distinguishes all of a user's clients from the user."""

    @classmethod
    def topic(cls, name: str) -> "ConfigEntity":
        return cls("topics", name)

    @classmethod
    def broker(cls, broker_id: int | None) -> "ConfigEntity":
        return cls("brokers", None if broker_id is None else str(broker_id))

    @classmethod
    def user_client(cls, user: str | None, client: str | None) -> "ConfigEntity":
        return cls("users", user, client, has_client=True)

    @property
    def entity_path(self) -> str:
        """The path below `/config`, which a notification names."""
        path = f"{self.type}/{_part(self.type, self.name)}"
        return f"{path}/clients/{_part('clients', self.client)}" if self.has_client else path

    @property
    def path(self) -> str:
        return f"/config/{self.entity_path}"


def parse_entity_path(text: str) -> ConfigEntity:
    """The entity that a path below `/config` names."""
    match text.split("/"):
        case ["users", user, "clients", client]:
            return ConfigEntity.user_client(_name("users", user), _name("clients", client))
        case [kind, name] if kind in TYPES and name:
            return ConfigEntity(kind, _name(kind, name))
    raise NodeDataError(f"{text!r} is no entity of settings")


def encode_config(values: Mapping[str, str]) -> bytes:
    return encode({"version": 1, "config": dict(values)})


def decode_config(data: bytes) -> dict[str, str]:
    """The settings; none for a node without data, which is only there for its children."""
    if not data:
        return {}
    return Document.decode(data).mapping_or_empty("config").all_texts()


def encode_change(entity: ConfigEntity) -> bytes:
    return encode({"version": 2, "entity_path": entity.entity_path})


def decode_change(data: bytes) -> ConfigEntity:
    """The entity whose settings changed; version 1, before 0.10.1, names type and name."""
    document = Document.decode(data)
    if document.integer("version") == 1:
        return parse_entity_path(f"{document.text('entity_type')}/{document.text('entity_name')}")
    return parse_entity_path(document.text("entity_path"))


def _part(kind: str, name: str | None) -> str:
    if name is None:
        return DEFAULT_ENTITY
    # Names of topics and numbers of brokers have no character to encode.
    return sanitize(name) if kind in ("clients", "users") else name


def _name(kind: str, part: str) -> str | None:
    if part == DEFAULT_ENTITY:
        return None
    return desanitize(part) if kind in ("clients", "users") else part
