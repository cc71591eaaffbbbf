"""Whose settings are meant: a topic, a broker, a user and its client, or a default."""

from dataclasses import dataclass

from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.options import Given

KINDS = (
    "topics",
    "clients",
    "users",
    "brokers",
    "ips",
    "broker-loggers",
    "client-metrics",
    "groups",
)
DEFAULT = ""
_SHORT = {
    "topic": "topics",
    "broker": "brokers",
    "broker-logger": "broker-loggers",
    "user": "users",
    "client": "clients",
    "ip": "ips",
    "group": "groups",
}
# Quotas of a client of a user are named after the user first.
_ORDER = ("users", "clients")


@dataclass(frozen=True, slots=True)
class Entity:
    """A type with a name; no name (None) is all of them, an empty one their default."""

    kind: str
    name: str | None

    @property
    def singular(self) -> str:
        """One of them."""
        return self.kind.removesuffix("s")


def entities_of(given: Given) -> list[Entity]:
    """What the options name, one or a user with a client."""
    names = _names(given)
    found = []
    for kind in given.texts("entity-type"):
        if kind not in KINDS:
            raise CommandFailed(
                f"Invalid entity type {kind}, the entity type must be one of "
                f"{', '.join(KINDS[:-1])} with a --bootstrap-server or --bootstrap-controller "
                "argument"
            )
        found.append(Entity(kind, names.pop(0) if names else None))
    for option, kind in _SHORT.items():
        found += [Entity(kind, name) for name in given.texts(option)]
        if f"{option}-defaults" in given:
            found.append(Entity(kind, DEFAULT))
    kinds = [each.kind for each in found]
    if not found:
        raise CommandFailed("At least one entity type must be specified")
    if len(found) > 1 and set(kinds) != set(_ORDER):
        raise CommandFailed("Only a user and a client may be named together")
    return sorted(
        found, key=lambda each: kinds.index(each.kind) if len(found) == 1 else _rank(each)
    )


def _rank(entity: Entity) -> int:
    return _ORDER.index(entity.kind)


def _names(given: Given) -> list[str | None]:
    names: list[str | None] = list(given.texts("entity-name"))
    names += [DEFAULT] * len(given.values.get("entity-default", []))
    return names
